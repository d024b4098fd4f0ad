/** The blocks that a View is tested on: those that ship, or a file. */
import { type ErrorCode, ServiceError } from '../../errors.ts'
import { membersOf } from '../../json-object.ts'
import { hasMoreParts } from '../../json-parts.ts'
import { networkName } from '../../primitives/names.ts'
import { readBoundedFile } from '../../read-bounded.ts'
import { readBlocks, type TrialBlock } from './block-form.ts'
import samples from './sample-blocks.json' with { type: 'json' }

/** What a file of blocks holds. */
interface Fixture {
  /** As in `Ethereum__Mainnet`; null where the file names none. */
  readonly network: string | null
  readonly blocks: readonly TrialBlock[]
}

const maxFileBytes = 64 * 1024 * 1024
/** And brackets: blocks of as many bytes have some 1,400,000. */
const maxFileValues = 2_000_000
/** Most blocks of one test. */
const maxTrialBlocks = 1_000

/** What contracts of every common kind log on mainnet: three blocks, all made up but for the contracts. */
export function sampleBlocks(): TrialBlock[] {
  return readBlocks(samples.blocks, 'blocks')
}

/**
 * Reads a file of blocks: `{"network": "Ethereum__Mainnet", "blocks": [...]}`, of which the first may be left out.
 * @throws ServiceError `TOOLKIT_FIXTURE_INVALID` with the place and what is accepted there.
 */
export async function readFixture(path: string): Promise<Fixture> {
  const value = await readJsonFile(path, 'TOOLKIT_FIXTURE_INVALID')
  const { network, blocks, ...others } = membersOf(value)
  const [other] = Object.keys(others)
  if (other !== undefined || !Array.isArray(blocks) || blocks.length === 0)
    throw fixtureError(`${path} is not an object with a list of blocks`)
  if (blocks.length > maxTrialBlocks)
    throw fixtureError(`${path} has ${blocks.length} blocks, and ${maxTrialBlocks} are accepted`)
  const read = readBlocks(blocks, 'blocks')
  if (new Set(read.map(({ number }) => number)).size < read.length)
    throw fixtureError(`${path} has two blocks with one number`)
  return { network: network === undefined ? null : checkNetwork(network, path), blocks: read }
}

function checkNetwork(network: unknown, path: string): string {
  const [chain = '', name = '', more] = typeof network === 'string' ? network.split('__') : []
  if (more !== undefined) throw fixtureError(`${path} has a network of three parts`)
  return networkName(chain, name)
}

function fixtureError(message: string): ServiceError {
  return new ServiceError('TOOLKIT_FIXTURE_INVALID', message, {
    remedy: 'Write {"blocks": [{"logs": [{"address": "0x…", "topics": ["0x…"], "data": "0x…"}]}]}.',
  })
}

/** Reads a file of JSON, of at most 64 MiB and two million values; everything that is wrong with it has `code`. */
export async function readJsonFile(path: string, code: ErrorCode): Promise<unknown> {
  const text = await readText(path, code)
  if (hasMoreParts(text, maxFileValues))
    throw new ServiceError(
      code,
      `${path} has more than ${maxFileValues} values, or is mostly blanks`,
      {
        remedy: 'Write fewer of them.',
      },
    )
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new ServiceError(code, `${path} is not JSON`, {
      remedy: 'Write one JSON value, and nothing else.',
      cause,
    })
  }
}

async function readText(path: string, code: ErrorCode): Promise<string> {
  try {
    return (await readBoundedFile(path, maxFileBytes)).toString()
  } catch (cause) {
    throw new ServiceError(code, `${path} cannot be read`, {
      remedy: 'Name a file that is there and readable.',
      cause,
    })
  }
}
