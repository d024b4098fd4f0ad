/**
 * Writes the answers of a real execution node to test/fixtures/chain: a block with a blob transaction
 * (EIP-4844) and a block with a delegation (EIP-7702) beside a legacy, an access list and a dynamic fee
 * transaction. Run by hand, `npx node test/chain/record-blocks.ts <path of geth>`, when nodes come to
 * answer something new. mainnet-46147.json is not made here: it is the first transaction of
 * Ethereum's main chain, as nodes answer it.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { callNode } from '../support/chain/anvil.ts'

const [geth = 'geth'] = process.argv.slice(2)
const node = spawn(
  geth,
  [
    ...['--dev', '--dev.period', '2', '--datadir', mkdtempSync(join(tmpdir(), 'record-blocks-'))],
    ...['--http', '--http.port', '0', '--http.api', 'eth,personal', '--ipcdisable', '--port', '0'],
  ],
  { stdio: ['ignore', 'ignore', 'pipe'] },
)
process.once('exit', () => node.kill('SIGKILL'))
const url = `http://${await listeningAddress()}`
const call = <T>(method: string, ...params: readonly unknown[]): Promise<T> =>
  callNode<T>(url, method, params)

const [developer = ''] = await call<string[]>('eth_accounts')
const key = privateKeyToAccount(generatePrivateKey())
const ether = '0xde0b6b3a7640000'
await mined(await call('eth_sendTransaction', { from: developer, to: key.address, value: ether }))

write('geth-blob', await blockOf(await sendBlob()))
write('geth-all-types', await blockOf(await sendEveryOtherType()))
node.kill('SIGKILL')

async function listeningAddress(): Promise<string> {
  for await (const line of createInterface({ input: node.stderr })) {
    const address = /HTTP server started.*endpoint=(\S+)/.exec(line)?.[1]
    if (address !== undefined) return address
  }
  throw new Error('geth ended before it listened')
}

/** The blob is signed, committed to and proven by the node, so that no library of ours has to. */
async function sendBlob(): Promise<string> {
  const blob = `0x${'00'.repeat(31)}2a${'00'.repeat(131_072 - 32)}`
  const signed = await call<{ raw: string }>('eth_signTransaction', {
    from: developer,
    to: key.address,
    nonce: await call('eth_getTransactionCount', developer, 'pending'),
    gas: '0x5208',
    maxFeePerGas: '0x77359400',
    maxPriorityFeePerGas: '0x1',
    maxFeePerBlobGas: '0x77359400',
    blobs: [blob],
  })
  return await call('eth_sendRawTransaction', signed.raw)
}

/** All in one block: they are sent right after a block, and the next one is two seconds away. */
async function sendEveryOtherType(): Promise<string> {
  const chainId = Number(await call('eth_chainId'))
  const authority = privateKeyToAccount(generatePrivateKey())
  const authorization = await authority.signAuthorization({
    address: '0x00000000000000000000000000000000000000aa',
    chainId,
    nonce: 0,
  })
  const fees = { maxFeePerGas: 2_000_000_000n, maxPriorityFeePerGas: 1n, gas: 100_000n }
  const to = authority.address
  const accessList = [{ address: to, storageKeys: [`0x${'00'.repeat(31)}07` as const] }]
  const raw = await Promise.all([
    key.signTransaction({
      chainId,
      type: 'legacy',
      to,
      nonce: 0,
      gasPrice: 2_000_000_000n,
      gas: 21_000n,
    }),
    key.signTransaction({
      chainId,
      type: 'eip2930',
      to,
      nonce: 1,
      gasPrice: 2_000_000_000n,
      gas: 50_000n,
      accessList,
    }),
    key.signTransaction({ chainId, type: 'eip1559', to, nonce: 2, ...fees, accessList }),
    // LOG1 of an empty range with topic 7, as the code of a creation.
    key.signTransaction({
      chainId,
      type: 'eip1559',
      nonce: 3,
      ...fees,
      data: '0x600760006000a100',
    }),
    key.signTransaction({
      chainId,
      type: 'eip7702',
      to,
      nonce: 4,
      ...fees,
      authorizationList: [authorization],
    }),
  ])
  let last = ''
  for (const transaction of raw) last = await call('eth_sendRawTransaction', transaction)
  return last
}

async function mined(hash: string): Promise<{ readonly blockNumber: string }> {
  for (;;) {
    const receipt = await call<{ blockNumber: string } | null>('eth_getTransactionReceipt', hash)
    if (receipt !== null) return receipt
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

async function blockOf(transaction: string): Promise<object> {
  const { blockNumber } = await mined(transaction)
  const block = await call<{ transactions: { hash: string }[] }>(
    'eth_getBlockByNumber',
    blockNumber,
    true,
  )
  const receipts = block.transactions.map(({ hash }) => call('eth_getTransactionReceipt', hash))
  return { block, receipts: await Promise.all(receipts) }
}

function write(name: string, answers: object): void {
  const path = new URL(`../fixtures/chain/${name}.json`, import.meta.url)
  writeFileSync(path, `${JSON.stringify(answers, null, 2)}\n`)
}
