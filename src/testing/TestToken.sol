// SPDX-License-Identifier: MIT
// A stablecoin for tests: ERC-20 and EIP-3009 with the checks, their order, the events and the revert texts of USDC v2.2.
// It runs from code that was placed at any address without a constructor: an empty slot means the default, and the
// EIP-712 domain is computed in each call. Minting is open, and knobs make it behave like the bad tokens of the field.
pragma solidity 0.8.37;

interface IERC1271 {
    function isValidSignature(bytes32 hash, bytes memory signature) external view returns (bytes4);
}

contract TestToken {
    // The sandbox writes balances straight into slot 0: this mapping stays first.
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;
    mapping(address => mapping(bytes32 => bool)) public authorizationState;
    mapping(address => bool) public isBlacklisted;
    uint256 public totalSupply;
    string private storedName;
    string private storedVersion;
    uint16 private decimalsPlusOne;
    uint16 public feeBasisPoints;
    bool public paused;
    bool public silentReuse;
    bool public mute;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);
    event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce);
    event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce);

    bytes32 public constant TRANSFER_WITH_AUTHORIZATION_TYPEHASH =
        keccak256("TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)");
    bytes32 public constant RECEIVE_WITH_AUTHORIZATION_TYPEHASH =
        keccak256("ReceiveWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)");
    bytes32 public constant CANCEL_AUTHORIZATION_TYPEHASH = keccak256("CancelAuthorization(address authorizer,bytes32 nonce)");

    modifier open(address a, address b) {
        require(!paused, "Pausable: paused");
        require(!isBlacklisted[a] && !isBlacklisted[b], "Blacklistable: account is blacklisted");
        _;
    }

    function name() public view returns (string memory) { return bytes(storedName).length == 0 ? "USDC" : storedName; }
    function symbol() external pure returns (string memory) { return "USDC"; }
    function version() public view returns (string memory) { return bytes(storedVersion).length == 0 ? "2" : storedVersion; }
    function decimals() external view returns (uint8) { return decimalsPlusOne == 0 ? 6 : uint8(decimalsPlusOne - 1); }

    function DOMAIN_SEPARATOR() public view returns (bytes32) {
        bytes32 domain = keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
        return keccak256(abi.encode(domain, keccak256(bytes(name())), keccak256(bytes(version())), block.chainid, address(this)));
    }

    // ERC-20

    function transfer(address to, uint256 value) external open(msg.sender, to) returns (bool) {
        move(msg.sender, to, value);
        return true;
    }

    function approve(address spender, uint256 value) external open(msg.sender, spender) returns (bool) {
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value) external open(from, to) returns (bool) {
        require(!isBlacklisted[msg.sender], "Blacklistable: account is blacklisted");
        require(value <= allowance[from][msg.sender], "ERC20: transfer amount exceeds allowance");
        allowance[from][msg.sender] -= value;
        move(from, to, value);
        return true;
    }

    // EIP-3009

    function transferWithAuthorization(
        address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s
    ) external {
        authorized(TRANSFER_WITH_AUTHORIZATION_TYPEHASH, from, to, value, validAfter, validBefore, nonce, abi.encodePacked(r, s, v));
    }

    function transferWithAuthorization(
        address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes memory signature
    ) external {
        authorized(TRANSFER_WITH_AUTHORIZATION_TYPEHASH, from, to, value, validAfter, validBefore, nonce, signature);
    }

    function receiveWithAuthorization(
        address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s
    ) external {
        authorized(RECEIVE_WITH_AUTHORIZATION_TYPEHASH, from, to, value, validAfter, validBefore, nonce, abi.encodePacked(r, s, v));
    }

    function receiveWithAuthorization(
        address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes memory signature
    ) external {
        authorized(RECEIVE_WITH_AUTHORIZATION_TYPEHASH, from, to, value, validAfter, validBefore, nonce, signature);
    }

    function cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s) external {
        cancel(authorizer, nonce, abi.encodePacked(r, s, v));
    }

    function cancelAuthorization(address authorizer, bytes32 nonce, bytes memory signature) external {
        cancel(authorizer, nonce, signature);
    }

    function authorized(
        bytes32 kind, address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes memory signature
    ) private open(from, to) {
        require(kind == TRANSFER_WITH_AUTHORIZATION_TYPEHASH || to == msg.sender, "FiatTokenV2: caller must be the payee");
        require(block.timestamp > validAfter, "FiatTokenV2: authorization is not yet valid");
        require(block.timestamp < validBefore, "FiatTokenV2: authorization is expired");
        if (silentReuse && authorizationState[from][nonce]) {
            emit AuthorizationUsed(from, nonce);
            return;
        }
        require(!authorizationState[from][nonce], "FiatTokenV2: authorization is used or canceled");
        requireSigned(from, keccak256(abi.encode(kind, from, to, value, validAfter, validBefore, nonce)), signature);
        authorizationState[from][nonce] = true;
        emit AuthorizationUsed(from, nonce);
        move(from, to, value);
    }

    function cancel(address authorizer, bytes32 nonce, bytes memory signature) private {
        require(!paused, "Pausable: paused");
        require(!authorizationState[authorizer][nonce], "FiatTokenV2: authorization is used or canceled");
        requireSigned(authorizer, keccak256(abi.encode(CANCEL_AUTHORIZATION_TYPEHASH, authorizer, nonce)), signature);
        authorizationState[authorizer][nonce] = true;
        emit AuthorizationCanceled(authorizer, nonce);
    }

    // An account with code answers for itself (ERC-1271) and never by ECDSA; every other one by a strict 65-byte signature.
    function requireSigned(address signer, bytes32 structHash, bytes memory signature) private view {
        bytes32 digest = keccak256(abi.encodePacked("\x19\x01", DOMAIN_SEPARATOR(), structHash));
        if (signer.code.length == 0) {
            require(recover(digest, signature) == signer, "FiatTokenV2: invalid signature");
            return;
        }
        (bool ok, bytes memory answer) = signer.staticcall(abi.encodeCall(IERC1271.isValidSignature, (digest, signature)));
        require(
            ok && answer.length >= 32 && abi.decode(answer, (bytes32)) == bytes32(IERC1271.isValidSignature.selector),
            "FiatTokenV2: invalid signature"
        );
    }

    function recover(bytes32 digest, bytes memory signature) private pure returns (address signer) {
        require(signature.length == 65, "ECRecover: invalid signature length");
        bytes32 r;
        bytes32 s;
        uint8 v;
        assembly {
            r := mload(add(signature, 0x20))
            s := mload(add(signature, 0x40))
            v := byte(0, mload(add(signature, 0x60)))
        }
        require(uint256(s) <= 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0, "ECRecover: invalid signature 's' value");
        require(v == 27 || v == 28, "ECRecover: invalid signature 'v' value");
        signer = ecrecover(digest, v, r, s);
        require(signer != address(0), "ECRecover: invalid signature");
    }

    function move(address from, address to, uint256 value) private {
        require(from != address(0), "ERC20: transfer from the zero address");
        require(to != address(0), "ERC20: transfer to the zero address");
        require(value <= balanceOf[from], "ERC20: transfer amount exceeds balance");
        uint256 fee = value * feeBasisPoints / 10_000;
        balanceOf[from] -= value;
        balanceOf[to] += value - fee;
        if (!mute) emit Transfer(from, to, value - fee);
        if (fee == 0) return;
        balanceOf[address(this)] += fee;
        if (!mute) emit Transfer(from, address(this), fee);
    }

    // For tests: anyone may turn every knob.

    function mint(address to, uint256 value) external {
        totalSupply += value;
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
    }

    function setDomain(string calldata newName, string calldata newVersion) external {
        storedName = newName;
        storedVersion = newVersion;
    }

    function setDecimals(uint8 value) external { decimalsPlusOne = uint16(value) + 1; }
    function setPaused(bool value) external { paused = value; }
    function setBlacklisted(address account, bool value) external { isBlacklisted[account] = value; }

    /// Transfers deliver less: this share of each goes to the token itself.
    function setFeeBasisPoints(uint16 value) external {
        require(value <= 10_000, "TestToken: fee above 100 %");
        feeBasisPoints = value;
    }

    /// A used nonce no longer reverts: it emits AuthorizationUsed again and moves nothing.
    function setSilentReuse(bool value) external { silentReuse = value; }

    /// Money moves without a Transfer event.
    function setMute(bool value) external { mute = value; }
}
