/** Blocks of a running Host, read over its GraphQL, so that a View is tested on what it will be computed on. */
import { ServiceError } from '../../errors.ts'
import { type JsonObject, membersOf } from '../../json-object.ts'
import { type CollectionName, storedFields } from '../../primitives/collections.ts'
import { networkName } from '../../primitives/names.ts'
import { paths } from '../../service/contract.ts'
import { readBlocks, type TrialBlock } from '../blocks/block-form.ts'
import type { TrialBlocks } from '../blocks/trial-store.ts'
import { toSingleLine } from '../cli/print.ts'
import { answerInvalid, type HostAddress, requestHost } from '../host-api/host-request.ts'

interface HostBlocksOptions {
  readonly host: HostAddress
  /** How many of its newest blocks. */
  readonly count: number
  readonly signal: AbortSignal
  /** Called after each block. */
  readonly onProgress: (read: number) => void
}

/** Bytes of all blocks as they were answered, whatever their number. */
const maxBytes = 256 * 1024 * 1024

/**
 * The newest blocks of a Host, ascending. What it answers is taken as data and checked as such; whether it is true
 * a test of a View need not know.
 * @throws ServiceError `TOOLKIT_HOST_...`; `TOOLKIT_FIXTURE_INVALID` for a block that is none.
 */
export async function readHostBlocks(options: HostBlocksOptions): Promise<TrialBlocks> {
  const { host, count, onProgress } = options
  const { network, numbers } = await newestBlocks(options)
  const found: unknown[] = []
  let bytes = 0
  for (const number of numbers) {
    const document = await readBlock(options, network, number)
    bytes += JSON.stringify(document).length
    if (bytes > maxBytes)
      throw answerInvalid(host.url, `answered more than ${maxBytes} bytes for ${count} blocks`)
    found.push(document)
    onProgress(found.length)
  }
  const blocks: TrialBlock[] = readBlocks(found, 'blocks')
  if (blocks.some((block, index) => block.number !== numbers[index]))
    throw answerInvalid(host.url, 'answered another block than the one it was asked for')
  return { network, blocks }
}

interface Newest {
  readonly network: string
  /** Ascending. */
  readonly numbers: readonly number[]
}

async function newestBlocks(options: HostBlocksOptions): Promise<Newest> {
  const { host, count } = options
  const list = await ask(
    options,
    `{ Block(order: {number: DESC}, limit: ${count}) { __typename number } }`,
  )
  const numbers = list
    .map(({ number }) => (typeof number === 'number' ? number : Number.NaN))
    .toReversed()
  const [first] = list
  if (first === undefined)
    throw new ServiceError('TOOLKIT_HOST_REFUSED', `${host.url} has no block yet`, {
      remedy: 'Wait until it has one, or test on the samples, without --from.',
    })
  if (!isAscending(numbers) || numbers.length > count)
    throw answerInvalid(host.url, 'returned something other than a list of blocks')
  return { network: networkOf(host, first['__typename']), numbers }
}

function isAscending(numbers: readonly number[]): boolean {
  return numbers.every(
    (number, index) => Number.isSafeInteger(number) && number > (numbers[index - 1] ?? -1),
  )
}

function networkOf(host: HostAddress, typename: unknown): string {
  const [chain = '', network = '', collection, more] =
    typeof typename === 'string' ? typename.split('__') : []
  if (collection !== 'Block' || more !== undefined)
    throw answerInvalid(host.url, 'does not name the type of its blocks')
  return networkName(chain, network)
}

async function readBlock(
  options: HostBlocksOptions,
  network: string,
  number: number,
): Promise<unknown> {
  const [block, second] = await ask(
    options,
    `{ ${network}__Block(filter: {number: {_eq: ${number}}}) { ${selection} } }`,
  )
  if (block !== undefined && second === undefined) return block
  throw answerInvalid(options.host.url, `no longer has block ${number}, or several`)
}

/** All that is signed of a document. What follows from its place is left out. */
const fieldsOf = (collection: CollectionName): string =>
  storedFields(collection)
    .map(({ name }) => name)
    .filter((name) => !derived.has(name))
    .join(' ')

const derived: ReadonlySet<string> = new Set(['blockHash', 'blockNumber', 'transactionHash'])

const selection = `${fieldsOf('Block')} transactions(order: {transactionIndex: ASC}) { ${fieldsOf('Transaction')}
  accessList { ${fieldsOf('AccessListEntry')} } logs(order: {logIndex: ASC}) { ${fieldsOf('Log')} } }`

/** The one list that a query asks for. */
async function ask({ host, signal }: HostBlocksOptions, query: string): Promise<JsonObject[]> {
  const { status, body } = await requestHost(host, {
    method: 'POST',
    path: paths.graphql,
    body: { query },
    signal,
  })
  const { data, errors } = membersOf(body)
  if (Array.isArray(errors) && errors.length > 0) {
    const { message } = membersOf(errors[0])
    throw new ServiceError(
      'TOOLKIT_HOST_REFUSED',
      `the Host refuses a query: ${toSingleLine(String(message)).slice(0, 1_000)}`,
      { facts: { status }, remedy: 'Ask for fewer blocks, or for blocks of another Host.' },
    )
  }
  const [list] = Object.values(membersOf(data))
  if (!Array.isArray(list))
    throw answerInvalid(host.url, 'returned something other than a list of documents')
  return list.map(membersOf)
}
