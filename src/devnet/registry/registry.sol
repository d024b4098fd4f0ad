// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

// What stands at 0x0210 on the stand-in of the registry chain, where the real one has a precompile of the same
// interface. contract.json holds its compiled form. What a contract cannot imitate is done before it: rpc-face.ts.

contract ViewRegistry {
    struct View {
        address viewAddress;
        string name;
        string creator;
        uint64 height;
        uint8 status;
    }

    event ViewCreated(address indexed viewAddress, address indexed creator, string name);

    /// Beside the log of the real chain, with what its other interfaces need to know; never shown to clients.
    event Accepted(address indexed viewAddress, address indexed creator, string name, bytes data);

    uint256 private constant maxWire = 384 * 1024;
    uint256 private constant maxText = 8 * 1024;
    uint256 private constant maxArgs = 64 * 1024;
    uint256 private constant maxLenses = 256;
    uint256 private constant maxBlob = 10 * 1024 * 1024;
    uint8 private constant pending = 1;
    uint8 private constant done = 2;

    /// Acts for the other chain, which acknowledges Views.
    address private constant module = 0x000000000000000000000000000000000000AcC7;

    mapping(address viewAddress => View) private views;

    /// Registered ones in the order of their addresses as text, which is that of the real chain.
    address[] private order;
    bool private channelClosed;

    modifier onlyModule() {
        require(msg.sender == module);
        _;
    }

    function register(bytes calldata data) external payable returns (address viewAddress, string memory name) {
        if (msg.value > 0) revert(string.concat("cannot receive funds, received: ", decimal(msg.value)));
        name = checkedName(data);
        viewAddress = address(uint160(uint256(keccak256(bytes.concat("shinzo.view.v1", bytes20(msg.sender), data)))));
        if (views[viewAddress].status == 0) {
            require(!channelClosed, "register view: register view object via ICA: no active channel for this owner");
            views[viewAddress] = View(viewAddress, name, checksummed(msg.sender), uint64(block.number), pending);
            emit Accepted(viewAddress, msg.sender, name, data);
        }
        emit ViewCreated(viewAddress, msg.sender, name);
    }

    function getView(address viewAddress) external view returns (View memory) {
        return views[viewAddress];
    }

    /// The offset wraps at 2^64, as on the real chain.
    function listViews(uint256 offset, uint256 limit) external view returns (View[] memory found) {
        uint256 start = uint64(offset);
        if (start > order.length) start = order.length;
        uint256 count = order.length - start;
        if (count > limit) count = limit;
        found = new View[](count);
        for (uint256 i = 0; i < count; i++) found[i] = views[order[start + i]];
    }

    function viewCount() external view returns (uint256) {
        return order.length;
    }

    /// The answer of the other chain; after a time-out it takes no more.
    function settle(address[] calldata registered, address[] calldata dropped, bool closesChannel) external onlyModule {
        for (uint256 i = 0; i < registered.length; i++) {
            if (views[registered[i]].status != pending) continue;
            views[registered[i]].status = done;
            list(registered[i]);
        }
        for (uint256 i = 0; i < dropped.length; i++) delete views[dropped[i]];
        if (closesChannel) channelClosed = true;
    }

    function openChannel() external onlyModule {
        channelClosed = false;
    }

    /// A View as given; for one that was lost with the last moments of a killed node.
    function put(View calldata given) external onlyModule {
        bool isListed = views[given.viewAddress].status == done;
        views[given.viewAddress] = given;
        if (given.status == done && !isListed) list(given.viewAddress);
    }

    function list(address viewAddress) private {
        bytes memory text = bytes(checksummed(viewAddress));
        order.push(viewAddress);
        uint256 pos = order.length - 1;
        while (pos > 0 && isBelow(text, bytes(checksummed(order[pos - 1])))) {
            order[pos] = order[pos - 1];
            pos -= 1;
        }
        order[pos] = viewAddress;
    }

    /// The header of the wire bytes, as far as the chain decodes it, and the name of its type.
    function checkedName(bytes calldata data) private pure returns (string memory) {
        if (data.length > maxWire) refuse("field too large");
        if (data.length < 3 || bytes3(data[0:3]) != "VWL") refuse("bad magic");
        if (data.length < 4) refuse("corrupt encoding");
        if (uint8(data[3]) != 1) refuse("unsupported version");
        uint256 pos = skip(data, 4, maxText);
        uint256 sdl = pos;
        pos = skip(data, pos, maxText);
        uint256 sdlEnd = pos;
        if (data.length < pos + 2) refuse("corrupt encoding");
        uint256 lenses = uint256(uint8(data[pos])) | (uint256(uint8(data[pos + 1])) << 8);
        if (lenses > maxLenses) refuse("field too large");
        pos += 2;
        for (uint256 i = 1; i <= lenses; i++) {
            if (number(data, pos) != i) refuse("corrupt encoding");
            pos = skip(data, pos + 4, maxArgs);
        }
        if (data.length < pos + 1) refuse("corrupt encoding");
        if (uint8(data[pos]) > 1) refuse("unknown codec");
        pos = skip(data, pos + 1, maxBlob);
        if (pos != data.length) refuse("corrupt encoding");
        return nameIn(data[sdl + 4:sdlEnd]);
    }

    /// The end of a field that begins with its length.
    function skip(bytes calldata data, uint256 pos, uint256 limit) private pure returns (uint256) {
        uint256 size = number(data, pos);
        if (size > limit) refuse("field too large");
        if (data.length < pos + 4 + size) refuse("corrupt encoding");
        return pos + 4 + size;
    }

    function number(bytes calldata data, uint256 pos) private pure returns (uint256 value) {
        if (data.length < pos + 4) refuse("corrupt encoding");
        for (uint256 i = 0; i < 4; i++) value |= uint256(uint8(data[pos + i])) << (8 * i);
    }

    function refuse(string memory reason) private pure {
        revert(string.concat("decode viewbundle: viewbundle: ", reason));
    }

    /// As `(?m)^[ \t]*type[ \t]+([A-Za-z0-9_]+)` finds it.
    function nameIn(bytes calldata sdl) private pure returns (string memory) {
        uint256 line = 0;
        while (line < sdl.length) {
            uint256 pos = afterBlanks(sdl, line);
            if (sdl.length >= pos + 4 && bytes4(sdl[pos:pos + 4]) == "type") {
                uint256 start = afterBlanks(sdl, pos + 4);
                uint256 end = start;
                while (end < sdl.length && isWord(sdl[end])) end += 1;
                if (start > pos + 4 && end > start) return string(sdl[start:end]);
            }
            while (line < sdl.length && sdl[line] != "\n") line += 1;
            line += 1;
        }
        revert("SDL missing type name");
    }

    function afterBlanks(bytes calldata text, uint256 pos) private pure returns (uint256) {
        while (pos < text.length && (text[pos] == " " || text[pos] == "\t")) pos += 1;
        return pos;
    }

    function isWord(bytes1 letter) private pure returns (bool) {
        return (letter >= "a" && letter <= "z") || (letter >= "A" && letter <= "Z")
            || (letter >= "0" && letter <= "9") || letter == "_";
    }

    /// An address in the mixed case of EIP-55.
    function checksummed(address given) private pure returns (string memory) {
        bytes memory digits = new bytes(40);
        for (uint256 i = 0; i < 40; i++) {
            uint256 nibble = (uint256(uint160(given)) >> (156 - 4 * i)) & 15;
            digits[i] = bytes16("0123456789abcdef")[nibble];
        }
        bytes32 hash = keccak256(digits);
        for (uint256 i = 0; i < 40; i++) {
            bool isUpper = (uint256(hash) >> (252 - 4 * i)) & 15 >= 8;
            if (digits[i] >= "a" && isUpper) digits[i] = bytes1(uint8(digits[i]) - 32);
        }
        return string.concat("0x", string(digits));
    }

    function isBelow(bytes memory a, bytes memory b) private pure returns (bool) {
        for (uint256 i = 0; i < a.length; i++) if (a[i] != b[i]) return a[i] < b[i];
        return false;
    }

    function decimal(uint256 value) private pure returns (string memory text) {
        for (; value > 0; value /= 10) text = string.concat(string(abi.encodePacked(uint8(48 + value % 10))), text);
    }
}
