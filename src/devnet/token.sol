// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

// What the development chain trades: a plain ERC-20 with one call that emits several logs, and a
// contract small enough to be created every few blocks. token.json holds their compiled form;
// test/devnet/token.test.ts compiles this file and compares.

contract Token {
    string public constant name = "Mesh Token";
    string public constant symbol = "MESH";
    uint8 public constant decimals = 18;
    uint256 public immutable totalSupply;

    mapping(address holder => uint256) public balanceOf;
    mapping(address holder => mapping(address spender => uint256)) public allowance;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    error InsufficientBalance(address holder, uint256 balance, uint256 needed);
    error InsufficientAllowance(address spender, uint256 allowance, uint256 needed);

    constructor(uint256 supply) {
        totalSupply = supply;
        balanceOf[msg.sender] = supply;
        emit Transfer(address(0), msg.sender, supply);
    }

    function transfer(address to, uint256 value) external returns (bool) {
        move(msg.sender, to, value);
        return true;
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        uint256 allowed = allowance[from][msg.sender];
        if (allowed < value) revert InsufficientAllowance(msg.sender, allowed, value);
        allowance[from][msg.sender] = allowed - value;
        move(from, to, value);
        return true;
    }

    /// Pays the same amount to each receiver: one Transfer log per receiver in one transaction.
    function payAll(address[] calldata receivers, uint256 value) external {
        for (uint256 i = 0; i < receivers.length; i++) move(msg.sender, receivers[i], value);
    }

    function move(address from, address to, uint256 value) private {
        uint256 balance = balanceOf[from];
        if (balance < value) revert InsufficientBalance(from, balance, value);
        unchecked {
            balanceOf[from] = balance - value;
            balanceOf[to] += value;
        }
        emit Transfer(from, to, value);
    }
}

/// Says something once, in its constructor, with as many topics as a log can have.
contract Note {
    event Noted(address indexed author, bytes32 indexed subject, uint256 indexed number, string text);

    constructor(bytes32 subject, uint256 number, string memory text) {
        emit Noted(msg.sender, subject, number, text);
    }
}
