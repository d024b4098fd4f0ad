/** The blocks that `viewmesh view test` runs over by default: what contracts of every common kind log on mainnet. */
import { createHash } from 'node:crypto'
import {
  type AbiParameter,
  type EncodeEventTopicsParameters,
  type EncodeFunctionDataParameters,
  encodeAbiParameters,
  encodeEventTopics,
  encodeFunctionData,
  type Hex,
  parseAbi,
} from 'viem'

const abi = parseAbi([
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event Approval(address indexed owner, address indexed spender, uint256 value)',
  'event Deposit(address indexed dst, uint256 wad)',
  'event Withdrawal(address indexed src, uint256 wad)',
  'event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value)',
  'event TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] values)',
  'event URI(string value, uint256 indexed id)',
  'event Sync(uint112 reserve0, uint112 reserve1)',
  'event Swap(address indexed sender, uint256 amount0In, uint256 amount1In, uint256 amount0Out, uint256 amount1Out, address indexed to)',
  'function transfer(address to, uint256 value)',
  'function approve(address spender, uint256 value)',
  'function deposit() payable',
  'function withdraw(uint256 wad)',
  'function safeTransferFrom(address from, address to, uint256 tokenId)',
  'function swapExactTokensForTokens(uint256 amountIn, uint256 amountOutMin, address[] path, address to, uint256 deadline)',
])
/** These two have names that others above have as well. */
const nft = parseAbi([
  'event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)',
])
const v3 = parseAbi([
  'event Swap(address indexed sender, address indexed recipient, int256 amount0, int256 amount1, uint160 sqrtPriceX96, uint128 liquidity, int24 tick)',
])

/** Contracts of mainnet. */
const contracts = {
  usdc: '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48',
  usdt: '0xdac17f958d2ee523a2206206994597c13d831ec7',
  dai: '0x6b175474e89094c44da98b954eedeac495271d0f',
  weth: '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2',
  bayc: '0xbc4ca0eda7647a8ab7c2061c2e118a18a936f13d',
  openSeaStore: '0x495f947276749ce646f68ac8c248420045cb7b5e',
  v2Pair: '0xb4e16d0168e52d35cacd2c6185b44281ec28c9dc',
  v2Router: '0x7a250d5630b4cf539739df2c5dacb4c659f2488d',
  v3Pool: '0x88e6a0c2ddd26feeb64f039a2c41296fcb3f5640',
  v3Router: '0xe592427a0aece92de3edee1f18e0157c05861564',
} as const satisfies Readonly<Record<string, Hex>>

const hashOf = (text: string): Hex => `0x${createHash('sha256').update(text).digest('hex')}`
/** Somebody who does not exist. */
const person = (number: number): Hex => `0x${hashOf(`person ${number}`).slice(-40)}`
const zero: Hex = `0x${'0'.repeat(40)}`
const quantity = (value: number | bigint): Hex => `0x${value.toString(16)}`

/** viem infers types from names that are written out. */
const untyped = (parameters: unknown): unknown => parameters

interface SampleLog {
  readonly address: Hex
  readonly topics: readonly Hex[]
  readonly data: Hex
}

interface EventItem {
  readonly type: string
  readonly name?: string
  readonly inputs?: readonly {
    readonly name?: string
    readonly type: string
    readonly indexed?: boolean
  }[]
}

/** The log of an event, as the contract writes it. */
function logOf(
  address: Hex,
  name: string,
  args: Readonly<Record<string, unknown>>,
  from: readonly EventItem[] = abi,
): SampleLog {
  const event = from.find((item) => item.type === 'event' && item.name === name)
  if (event?.inputs === undefined) throw new Error(name)
  const plain = event.inputs.filter(({ indexed }) => indexed !== true)
  const topics = encodeEventTopics(
    untyped({ abi: [event], eventName: name, args }) as EncodeEventTopicsParameters,
  )
  const values = plain.map((input) => args[input.name ?? ''])
  return {
    address,
    topics: topics.flatMap((topic) => (typeof topic === 'string' ? [topic] : [])),
    data: encodeAbiParameters(plain as readonly AbiParameter[], values),
  }
}

const usd = (amount: number): bigint => BigInt(Math.round(amount * 1e6))
const ether = (amount: number): bigint => BigInt(Math.round(amount * 1e6)) * 10n ** 12n

interface SampleTransaction {
  readonly from: Hex
  readonly to: Hex | null
  readonly value?: bigint
  readonly input?: Hex
  readonly status?: boolean
  readonly logs?: readonly SampleLog[]
  readonly accessList?: readonly { readonly address: Hex; readonly storageKeys: readonly Hex[] }[]
}

const call = (functionName: string, ...args: unknown[]): Hex =>
  encodeFunctionData(untyped({ abi, functionName, args }) as EncodeFunctionDataParameters)

const swap = (from: Hex, amountIn: number, amountOut: number): SampleTransaction => ({
  from,
  to: contracts.v2Router,
  input: call(
    'swapExactTokensForTokens',
    usd(amountIn),
    ether(amountOut * 0.99),
    [contracts.usdc, contracts.weth],
    from,
    1_800_000_000n,
  ),
  logs: [
    logOf(contracts.usdc, 'Transfer', { from, to: contracts.v2Pair, value: usd(amountIn) }),
    logOf(contracts.weth, 'Transfer', {
      from: contracts.v2Pair,
      to: from,
      value: ether(amountOut),
    }),
    logOf(contracts.v2Pair, 'Sync', {
      reserve0: usd(24_113_004.25 + amountIn),
      reserve1: ether(7_120.5 - amountOut),
    }),
    logOf(contracts.v2Pair, 'Swap', {
      sender: contracts.v2Router,
      amount0In: usd(amountIn),
      amount1In: 0n,
      amount0Out: 0n,
      amount1Out: ether(amountOut),
      to: from,
    }),
  ],
})

const chain: readonly (readonly SampleTransaction[])[] = [
  [
    { from: person(1), to: person(2), value: ether(1.5) },
    {
      from: person(2),
      to: contracts.usdc,
      input: call('transfer', person(3), usd(2500)),
      logs: [
        logOf(contracts.usdc, 'Transfer', { from: person(2), to: person(3), value: usd(2500) }),
      ],
    },
    {
      from: person(3),
      to: contracts.usdt,
      input: call('transfer', person(1), usd(120.55)),
      logs: [
        logOf(contracts.usdt, 'Transfer', { from: person(3), to: person(1), value: usd(120.55) }),
      ],
    },
    {
      from: person(4),
      to: contracts.dai,
      input: call('approve', contracts.v2Router, 2n ** 256n - 1n),
      logs: [
        logOf(contracts.dai, 'Approval', {
          owner: person(4),
          spender: contracts.v2Router,
          value: 2n ** 256n - 1n,
        }),
      ],
    },
    swap(person(5), 3350.12, 0.99),
  ],
  [
    {
      from: person(6),
      to: contracts.bayc,
      input: call('safeTransferFrom', person(6), person(7), 8520n),
      logs: [
        logOf(contracts.bayc, 'Approval', { owner: person(6), spender: zero, value: 0n }),
        logOf(contracts.bayc, 'Transfer', { from: person(6), to: person(7), tokenId: 8520n }, nft),
      ],
    },
    {
      from: person(7),
      to: contracts.weth,
      value: ether(12.75),
      input: call('deposit'),
      logs: [logOf(contracts.weth, 'Deposit', { dst: person(7), wad: ether(12.75) })],
    },
    {
      from: person(8),
      to: contracts.v3Router,
      input: '0x',
      logs: [
        logOf(contracts.weth, 'Transfer', {
          from: contracts.v3Pool,
          to: person(8),
          value: ether(4.2),
        }),
        logOf(contracts.usdc, 'Transfer', {
          from: person(8),
          to: contracts.v3Pool,
          value: usd(14_211.08),
        }),
        logOf(
          contracts.v3Pool,
          'Swap',
          {
            sender: contracts.v3Router,
            recipient: person(8),
            amount0: usd(14_211.08),
            amount1: -ether(4.2),
            sqrtPriceX96: 1_362_194_883_021_517_312_442_108_672_419_840n,
            liquidity: 18_406_117_210_337_621_094n,
            tick: 195_043,
          },
          v3,
        ),
      ],
      accessList: [
        { address: contracts.v3Pool, storageKeys: [`0x${'0'.repeat(64)}`, `0x${'0'.repeat(63)}4`] },
        { address: contracts.usdc, storageKeys: [] },
      ],
    },
    {
      from: person(9),
      to: contracts.usdc,
      input: call('transfer', person(1), usd(9e9)),
      status: false,
    },
  ],
  [
    {
      from: person(10),
      to: contracts.openSeaStore,
      input: '0x',
      logs: [
        logOf(contracts.openSeaStore, 'TransferSingle', {
          operator: person(10),
          from: zero,
          to: person(10),
          id: 41n,
          value: 1n,
        }),
        logOf(contracts.openSeaStore, 'URI', {
          value: 'ipfs://bafkreigh2akiscaildc/41.json — “first”',
          id: 41n,
        }),
        logOf(contracts.openSeaStore, 'TransferBatch', {
          operator: person(10),
          from: person(10),
          to: person(11),
          ids: [41n, 42n, 43n],
          values: [1n, 10n, 250n],
        }),
      ],
    },
    {
      from: person(7),
      to: contracts.weth,
      input: call('withdraw', ether(2)),
      logs: [logOf(contracts.weth, 'Withdrawal', { src: person(7), wad: ether(2) })],
    },
    {
      from: person(11),
      to: null,
      input:
        '0x6080604052348015600e575f80fd5b50603e80601a5f395ff3fe60806040525f80fdfea164736f6c6343000818000a',
      logs: [],
    },
    swap(person(3), 780, 0.2304),
    {
      from: person(3),
      to: contracts.usdc,
      input: call('transfer', person(2), usd(15)),
      logs: [logOf(contracts.usdc, 'Transfer', { from: person(3), to: person(2), value: usd(15) })],
    },
  ],
]

const firstNumber = 21_000_000

function transactionOf(made: SampleTransaction, number: number, index: number): object {
  const { value = 0n, input = '0x', status = true, logs = [], accessList = [], ...parties } = made
  return {
    hash: hashOf(`sample transaction ${number} ${index}`),
    ...parties,
    value: quantity(value),
    gas: quantity(300_000),
    gasPrice: quantity(9_000_000_000),
    gasUsed: quantity(21_000 + 24_000 * logs.length),
    maxFeePerGas: quantity(20_000_000_000),
    maxPriorityFeePerGas: quantity(1_000_000_000),
    input,
    nonce: quantity(index + 7),
    type: '0x2',
    chainId: '0x1',
    status,
    accessList,
    logs,
  }
}

function sampleBlocks(): object[] {
  return chain.map((transactions, place) => {
    const number = firstNumber + place
    return {
      number,
      timestamp: 1_729_355_975 + 12 * place,
      miner: person(99),
      gasLimit: quantity(30_000_000),
      gasUsed: quantity(1_200_000 + 1_000 * place),
      baseFeePerGas: quantity(8_000_000_000),
      transactions: transactions.map((each, index) => transactionOf(each, number, index)),
    }
  })
}

/** Path and content. */
export function sampleBlockFiles(): ReadonlyMap<string, string> {
  const text = JSON.stringify({ blocks: sampleBlocks() }, null, 2).replaceAll(
    /^(.*)\[\n\s+("[^"]*")\n\s+\](,?)$/gm,
    // As the formatter has it: a list of one text that fits on a line is on one.
    (written, before, item, after) => {
      const line = `${before}[${item}]${after}`
      return line.length <= 100 ? line : written
    },
  )
  return new Map([['src/toolkit/blocks/sample-blocks.json', `${text}\n`]])
}
