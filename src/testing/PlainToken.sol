// SPDX-License-Identifier: MIT
// An ERC-20 of the oldest kind for tests: no EIP-3009, and a transfer that returns nothing. A knob makes it misbehave. It runs
// from code that was placed at any address without a constructor.
pragma solidity 0.8.37;

contract PlainToken {
    // Tests write balances straight into slot 0 and the knob into slot 1: these two stay first.
    mapping(address => uint256) public balanceOf;
    uint256 public mode;

    uint256 private constant ANSWERS_FALSE = 1;
    uint256 private constant TAKES_A_FEE = 2;

    event Transfer(address indexed from, address indexed to, uint256 value);

    function decimals() external pure returns (uint8) { return 6; }

    function transfer(address to, uint256 value) external {
        if (mode == ANSWERS_FALSE) {
            // Moves nothing and does not revert, as some tokens do where the balance is short.
            assembly {
                mstore(0, 0)
                return(0, 32)
            }
        }
        require(value <= balanceOf[msg.sender], "the balance is short");
        move(msg.sender, to, value);
        if (mode == TAKES_A_FEE) move(to, address(this), value / 100);
    }

    function move(address from, address to, uint256 value) private {
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
    }
}
