// SPDX-License-Identifier: MIT
// A smart wallet that answers ERC-1271, good or bad as told, and a factory that deploys it by CREATE2 (for ERC-6492).
// The same code serves as an EIP-7702 delegate: with no owner in storage, the account's own key is the owner.
pragma solidity 0.8.37;

contract TestWallet {
    // 0: the owner's signature counts. 1: everything is rejected. 2: everything is accepted. 3: all gas is burned.
    // In slot 0 beside the owner, so that one storage write sets both.
    address public storedOwner;
    uint8 public mode;

    constructor(address newOwner) { storedOwner = newOwner; }

    function owner() public view returns (address) { return storedOwner == address(0) ? address(this) : storedOwner; }
    function setMode(uint8 value) external { mode = value; }

    function isValidSignature(bytes32 digest, bytes calldata signature) external view returns (bytes4) {
        if (mode == 3) while (true) {}
        if (mode == 2) return 0x1626ba7e;
        if (mode == 1 || signature.length != 65) return 0xffffffff;
        address signer = ecrecover(digest, uint8(signature[64]), bytes32(signature[:32]), bytes32(signature[32:64]));
        return signer != address(0) && signer == owner() ? bytes4(0x1626ba7e) : bytes4(0xffffffff);
    }

    receive() external payable {}
}

contract TestWalletFactory {
    /// Answers with the wallet of this owner and salt, deployed now or before.
    function createWallet(address owner, bytes32 salt) external returns (address wallet) {
        wallet = walletOf(owner, salt);
        if (wallet.code.length == 0) new TestWallet{salt: salt}(owner);
    }

    function walletOf(address owner, bytes32 salt) public view returns (address) {
        bytes32 code = keccak256(abi.encodePacked(type(TestWallet).creationCode, abi.encode(owner)));
        return address(uint160(uint256(keccak256(abi.encodePacked(bytes1(0xff), address(this), salt, code)))));
    }
}
