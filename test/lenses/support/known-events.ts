/**
 * Events of contracts that everybody knows, by their published declarations. No recorded block of ours has them, so viem
 * encodes their logs.
 */
import {
  type AbiEvent,
  type AbiParameter,
  encodeAbiParameters,
  encodeEventTopics,
  type Hex,
  parseAbi,
} from 'viem'

/** By the standard or contract that declares them. */
export const knownEvents: Readonly<Record<string, AbiEvent>> = {
  'ERC-20': event('event Transfer(address indexed from, address indexed to, uint256 value)'),
  'ERC-721': event(
    'event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)',
  ),
  'ERC-1155 single': event(
    'event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value)',
  ),
  'ERC-1155 batch': event(
    'event TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] values)',
  ),
  'ERC-1155 URI': event('event URI(string value, uint256 indexed id)'),
  'Uniswap V2 Swap': event(
    'event Swap(address indexed sender, uint256 amount0In, uint256 amount1In, uint256 amount0Out, uint256 amount1Out, address indexed to)',
  ),
  'Uniswap V2 Sync': event('event Sync(uint112 reserve0, uint112 reserve1)'),
  'Uniswap V2 Mint': event('event Mint(address indexed sender, uint256 amount0, uint256 amount1)'),
  'Uniswap V3 Swap': event(
    'event Swap(address indexed sender, address indexed recipient, int256 amount0, int256 amount1, uint160 sqrtPriceX96, uint128 liquidity, int24 tick)',
  ),
  'Uniswap V3 Mint': event(
    'event Mint(address sender, address indexed owner, int24 indexed tickLower, int24 indexed tickUpper, uint128 amount, uint256 amount0, uint256 amount1)',
  ),
  'Seaport OrderFulfilled': seaport(),
}

function event(declaration: string): AbiEvent {
  return parseAbi([declaration])[0] as AbiEvent
}

/** Two lists of tuples, after hashes and addresses. */
function seaport(): AbiEvent {
  return parseAbi([
    'struct SpentItem { uint8 itemType; address token; uint256 identifier; uint256 amount; }',
    'struct ReceivedItem { uint8 itemType; address token; uint256 identifier; uint256 amount; address recipient; }',
    'event OrderFulfilled(bytes32 orderHash, address indexed offerer, address indexed zone, address recipient, SpentItem[] offer, ReceivedItem[] consideration)',
  ])[0] as AbiEvent
}

/** A log of an event with these values. */
export function encodeLog(
  abi: AbiEvent,
  args: Readonly<Record<string, unknown>>,
): { topics: Hex[]; data: Hex } {
  const others = abi.inputs.filter(({ indexed }) => indexed !== true)
  const topics = encodeEventTopics({ abi: [abi], args: indexedOnly(abi, args) })
  const values = others.map(({ name }) => args[name ?? ''])
  return {
    topics: topics.filter((topic) => typeof topic === 'string'),
    data: encodeAbiParameters(others as readonly AbiParameter[], values),
  }
}

function indexedOnly(
  { inputs }: AbiEvent,
  args: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const names = inputs.filter(({ indexed }) => indexed === true).map(({ name }) => name ?? '')
  return Object.fromEntries(names.map((name) => [name, args[name]]))
}
