/**
 * Writes what published contracts log, and how they were called, to test/fixtures/lenses/contract-logs.json: tokens of
 * ERC-20, ERC-721 and ERC-1155, a pair of Uniswap V2, a pool of V3 with its position manager and router, and Seaport,
 * whose events and functions take lists of tuples. The packages that carry their bytecode are fetched by `npm pack` into
 * a temporary folder and are no dependencies; they are deployed on a development node. Of them the fixture holds the
 * ABI of what was logged and called. Run by hand: `node test/lenses/record-contract-logs.ts`.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type Abi,
  createWalletClient,
  encodeFunctionData,
  type Hex,
  http,
  maxUint128,
  publicActions,
  toEventSelector,
  toFunctionSelector,
  zeroAddress,
  zeroHash,
} from 'viem'
import { foundry } from 'viem/chains'
import { startAnvil } from '../support/chain/anvil.ts'
import type { CallDocument, ContractLogs, RecordedContract } from './support/contract-logs.ts'
import type { LogDocument } from './support/fixture-logs.ts'

const packages = {
  tokens: '@openzeppelin/contracts@4.9.6',
  v2: '@uniswap/v2-core@1.0.1',
  v3: '@uniswap/v3-core@1.0.1',
  v3Periphery: '@uniswap/v3-periphery@1.4.4',
  seaport: '@opensea/seaport-js@4.3.0',
} as const
type Package = keyof typeof packages

interface Artifact {
  readonly abi: Abi
  readonly bytecode: string
}

interface Deployed {
  readonly name: string
  readonly address: Hex
  readonly abi: Abi
}

const unit = 10n ** 18n
const folder = mkdtempSync(join(tmpdir(), 'contract-logs-'))
const node = await startAnvil()
const chain = { ...foundry, id: 31_337 }
const accounts = await node.rpc<[Hex, Hex, Hex]>('eth_accounts')
const [owner, buyer] = accounts
const client = createWalletClient({ chain, transport: http(node.url) }).extend(publicActions)
const deployments: Deployed[] = []
const documents: { readonly logs: LogDocument[]; readonly transactions: CallDocument[] } = {
  logs: [],
  transactions: [],
}

/** The folder of a package. */
function unpack(name: Package): string {
  const into = join(folder, name)
  mkdirSync(into)
  const [file = ''] = execFileSync('npm', ['pack', '--silent', packages[name]], { cwd: into })
    .toString()
    .trim()
    .split('\n')
  execFileSync('tar', ['xzf', file], { cwd: into })
  return join(into, 'package')
}

const folders = Object.fromEntries(
  (Object.keys(packages) as Package[]).map((name) => [name, unpack(name)]),
) as Readonly<Record<Package, string>>

function artifactOf(of: Package, path: string): Artifact {
  const json = JSON.parse(readFileSync(join(folders[of], path), 'utf8')) as {
    readonly abi: Abi
    readonly bytecode: string
  }
  return { abi: json.abi, bytecode: `0x${json.bytecode.replace(/^0x/, '')}` }
}

async function deploy(name: string, artifact: Artifact, args: unknown[] = []): Promise<Deployed> {
  const bytecode = artifact.bytecode as Hex
  const hash = await client.deployContract({ account: owner, abi: artifact.abi, bytecode, args })
  const { contractAddress } = await client.waitForTransactionReceipt({ hash })
  const deployed = { name, address: contractAddress ?? assert.fail(name), abi: artifact.abi }
  deployments.push(deployed)
  await record(hash)
  return deployed
}

/** The contract of this ABI at an address where another one put it. */
function found(name: string, { abi }: Artifact, address: unknown): Deployed {
  const deployed = { name, address: address as Hex, abi }
  deployments.push(deployed)
  return deployed
}

async function call(to: Deployed, functionName: string, args: unknown[], from = owner) {
  const { address, abi } = to
  const hash = await client.writeContract({ account: from, address, abi, functionName, args })
  await record(hash)
}

const read = async ({ address, abi }: Deployed, functionName: string, args: unknown[] = []) =>
  await client.readContract({ address, abi, functionName, args })

async function record(hash: Hex): Promise<void> {
  const { status, logs, from, to, blockNumber } = await client.waitForTransactionReceipt({ hash })
  assert.equal(status, 'success')
  const called = to === null || to === undefined ? null : lower(to)
  for (const { address, topics, data } of logs) {
    assert.ok(topics.length > 0)
    const log = { address: lower(address), topics: topics as [Hex], data }
    const transaction = { hash, from, to: called }
    documents.logs.push({ ...log, blockNumber: Number(blockNumber), transaction })
  }
  if (called === null) return
  const { input } = await client.getTransaction({ hash })
  const transaction = { hash, from, to: called, input, blockNumber: Number(blockNumber) }
  documents.transactions.push(transaction)
}

const lower = (address: Hex): Hex => address.toLowerCase() as Hex

const token = (name: string): Artifact => artifactOf('tokens', `build/contracts/${name}.json`)

async function useTokens(): Promise<readonly [Deployed, Deployed, Deployed]> {
  const args = [10n ** 24n, owner]
  const first = await deploy('ERC-20', token('ERC20PresetFixedSupply'), ['First', 'ONE', ...args])
  const second = await deploy('ERC-20', token('ERC20PresetFixedSupply'), ['Second', 'TWO', ...args])
  await call(first, 'transfer', [buyer, 5n * unit])
  await call(first, 'approve', [owner, unit], buyer)
  await call(first, 'transferFrom', [buyer, owner, unit])
  await call(first, 'burn', [1n])
  const base = 'https://tokens.example/'
  const unique = await deploy('ERC-721', token('ERC721PresetMinterPauserAutoId'), ['U', 'U', base])
  for (const to of [owner, owner]) await call(unique, 'mint', [to])
  await call(unique, 'approve', [buyer, 0n])
  await call(unique, 'transferFrom', [owner, buyer, 0n], buyer)
  await call(unique, 'setApprovalForAll', [buyer, true])
  await call(unique, 'pause', [])
  await call(unique, 'unpause', [])
  const many = await deploy('ERC-1155', token('ERC1155PresetMinterPauser'), [`${base}{id}`])
  await call(many, 'mint', [owner, 7n, 100n, '0x'])
  await call(many, 'mintBatch', [owner, [1n, 2n ** 255n], [10n, 20n], '0xc0ffee'])
  await call(many, 'safeBatchTransferFrom', [owner, buyer, [1n, 7n], [1n, 2n], '0x'])
  await call(many, 'safeTransferFrom', [owner, buyer, 7n, 3n, '0x01'])
  await call(many, 'burnBatch', [owner, [], []])
  return [first, second, unique]
}

async function tradeOnPair(first: Deployed, second: Deployed): Promise<void> {
  const factory = await deploy('V2 factory', artifactOf('v2', 'build/UniswapV2Factory.json'), [
    owner,
  ])
  await call(factory, 'createPair', [first.address, second.address])
  const pair = found(
    'V2 pair',
    artifactOf('v2', 'build/UniswapV2Pair.json'),
    await read(factory, 'getPair', [first.address, second.address]),
  )
  await call(first, 'transfer', [pair.address, 100n * unit])
  await call(second, 'transfer', [pair.address, 100n * unit])
  await call(pair, 'mint', [owner])
  await call(first, 'transfer', [pair.address, unit])
  const isFirst = (await read(pair, 'token0')) === first.address
  await call(pair, 'swap', isFirst ? [0n, unit / 2n, owner, '0x'] : [unit / 2n, 0n, owner, '0x'])
  await call(pair, 'transfer', [pair.address, unit])
  await call(pair, 'burn', [owner])
  await call(pair, 'sync', [])
}

async function tradeInPool(first: Deployed, second: Deployed): Promise<void> {
  const contract = (name: string): string => `artifacts/contracts/${name}.sol/${name}.json`
  const factory = await deploy('V3 factory', artifactOf('v3', contract('UniswapV3Factory')))
  const own = [factory.address, zeroAddress]
  const positions = artifactOf('v3Periphery', contract('NonfungiblePositionManager'))
  const manager = await deploy('V3 positions', positions, [...own, zeroAddress])
  const routing = artifactOf('v3Periphery', contract('SwapRouter'))
  const router = await deploy('V3 router', routing, own)
  for (const one of [first, second]) {
    for (const by of [manager, router]) await call(one, 'approve', [by.address, 10n ** 22n])
  }
  const [token0, token1] = [first.address, second.address].toSorted()
  const even = 2n ** 96n
  await call(manager, 'createAndInitializePoolIfNecessary', [token0, token1, 3_000, even])
  const pool = await read(factory, 'getPool', [token0, token1, 3_000])
  found('V3 pool', artifactOf('v3', contract('UniswapV3Pool')), pool)
  const { timestamp } = await client.getBlock()
  const deadline = timestamp + 10n ** 6n
  const amounts = { amount0Desired: unit, amount1Desired: unit, amount0Min: 0n, amount1Min: 0n }
  const range = { tickLower: -600, tickUpper: 600 }
  const pair = { token0, token1, fee: 3_000 }
  await call(manager, 'mint', [{ ...pair, ...range, ...amounts, recipient: owner, deadline }])
  const swap = { tokenIn: token0, tokenOut: token1, fee: 3_000, recipient: owner, deadline }
  const limits = { amountIn: unit / 10n, amountOutMinimum: 0n, sqrtPriceLimitX96: 0n }
  await call(router, 'exactInputSingle', [{ ...swap, ...limits }])
  const path = `${token1}000bb8${token0?.slice(2)}`
  const input = { path, recipient: owner, deadline, amountIn: unit / 5n, amountOutMinimum: 0n }
  await call(router, 'exactInput', [input])
  const less = { tokenId: 1n, liquidity: 1_000n, amount0Min: 0n, amount1Min: 0n, deadline }
  const maxima = { amount0Max: maxUint128, amount1Max: maxUint128 }
  const { abi } = manager
  const steps = [
    encodeFunctionData({ abi, functionName: 'decreaseLiquidity', args: [less] }),
    encodeFunctionData({
      abi,
      functionName: 'collect',
      args: [{ tokenId: 1n, recipient: owner, ...maxima }],
    }),
  ]
  await call(manager, 'multicall', [steps])
}

async function tradeAtSeaport(money: Deployed, unique: Deployed): Promise<void> {
  const base = 'src/artifacts/seaport/contracts'
  const conduits = artifactOf(
    'seaport',
    `${base}/conduit/ConduitController.sol/LocalConduitController.json`,
  )
  const controller = await deploy('Seaport conduits', conduits)
  const market = artifactOf('seaport', `${base}/Seaport.sol/Seaport.json`)
  const seaport = await deploy('Seaport', market, [controller.address])
  await call(unique, 'setApprovalForAll', [seaport.address, true])
  await call(money, 'approve', [seaport.address, 10n * unit], buyer)
  const price = { itemType: 1, token: money.address, identifierOrCriteria: 0n }
  const paid = (amount: bigint, recipient: Hex): object => ({
    ...price,
    ...{ startAmount: amount, endAmount: amount, recipient },
  })
  const item = { itemType: 2, token: unique.address, identifierOrCriteria: 1n }
  const { timestamp } = await client.getBlock()
  const consideration = [paid(unit, owner), paid(unit / 100n, accounts[2])]
  const parameters = {
    offerer: owner,
    zone: zeroAddress,
    offer: [{ ...item, startAmount: 1n, endAmount: 1n }],
    consideration,
    orderType: 0,
    startTime: timestamp,
    endTime: timestamp + 10n ** 6n,
    zoneHash: zeroHash,
    salt: 1n,
    conduitKey: zeroHash,
    totalOriginalConsiderationItems: BigInt(consideration.length),
  }
  const order = { parameters, signature: '0x' }
  await call(seaport, 'validate', [[order]])
  await call(seaport, 'fulfillOrder', [order, zeroHash], buyer)
  const { totalOriginalConsiderationItems: _, ...components } = parameters
  await call(seaport, 'cancel', [[{ ...components, salt: 2n, counter: 0n }]])
  await call(seaport, 'incrementCounter', [])
}

/** What was logged and called of an ABI. */
function recordedOf({ name, address, abi }: Deployed): RecordedContract {
  const own = lower(address)
  const logged = documents.logs.filter((log) => log.address === own)
  const called = documents.transactions.filter(({ to }) => to === own)
  const topics = new Set(logged.map(({ topics: [topic] }) => topic))
  const selectors = new Set(called.map(({ input }) => input.slice(0, 10)))
  const used = abi.filter(
    (item) =>
      (item.type === 'event' && topics.has(toEventSelector(item))) ||
      (item.type === 'function' && selectors.has(toFunctionSelector(item))),
  )
  return { name, address: own, abi: used }
}

try {
  const [first, second, unique] = await useTokens()
  await tradeOnPair(first, second)
  await tradeInPool(first, second)
  await tradeAtSeaport(first, unique)
  const contracts = deployments.map(recordedOf).filter(({ abi }) => abi.length > 0)
  const whole: ContractLogs = { packages: Object.values(packages), contracts, ...documents }
  const path = new URL('../fixtures/lenses/contract-logs.json', import.meta.url)
  mkdirSync(new URL('.', path), { recursive: true })
  writeFileSync(path, `${JSON.stringify(whole, null, 1)}\n`)
  process.stdout.write(`${documents.logs.length} logs, ${documents.transactions.length} calls\n`)
} finally {
  await node.close()
  rmSync(folder, { recursive: true })
}
