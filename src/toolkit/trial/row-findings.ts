/** What the rows of a test say about the View, field by field. Pure. */
import { moduleLimits } from '../../lens/module-check.ts'
import { mostMemoryPages } from '../../lens/module-sizes.ts'
import { perBlockRemedy } from '../../views/view-warnings.ts'
import type { ViewFinding } from './finding.ts'
import type { FieldCount, Measurement } from './trial-job.ts'

/** All blocks of a test together. */
export interface RowFacts {
  readonly documents: number
  readonly rows: number
  readonly fields: readonly FieldCount[]
  readonly unknown: Readonly<Record<string, number>>
  /** What the lenses are given: what they carry on of it is theirs to read and not meant for the rows. */
  readonly given: readonly string[]
}

/** What is wrong with rows of a View whose blocks all went well. */
export function rowFindings(facts: RowFacts): ViewFinding[] {
  if (facts.documents === 0)
    return [noData('neither the query nor the lenses want a document of these blocks')]
  if (facts.rows === 0)
    return [noData(`the lenses make no row of ${facts.documents} documents of these blocks`)]
  return [...facts.fields.flatMap((field) => fieldFindings(field, facts)), ...unknownFields(facts)]
}

function noData(message: string): ViewFinding {
  return finding('error', 'CHAIN_NO_TEST_DATA', `${message}, so that nothing was tested`, {
    remedy:
      'Test on blocks that have what the View is for: --from URL reads those of a Host, --fixture FILE your own.',
  })
}

function fieldFindings(field: FieldCount, { rows, unknown }: RowFacts): ViewFinding[] {
  const { name, type, values, missing, wrongType, wrongExample } = field
  if (wrongType > 0)
    return [
      finding(
        'error',
        'OUTPUT_TYPE_MISMATCH',
        `${name} is ${type} in the SDL, and ${wrongType} of ${rows} rows have something else, as in ${wrongExample}`,
        { remedy: 'Give the field the type of what the lens returns; JSON takes anything.' },
      ),
    ]
  if (missing === rows)
    return [
      finding('error', 'SDL_FIELD_NOT_EMITTED', `${name} is in the SDL, and no row has it`, {
        remedy: sameInOtherCase(name, unknown),
      }),
    ]
  if (values === 0)
    return [
      finding('warning', 'FIELD_ALWAYS_NULL', `${name} is null in all ${rows} rows`, {
        remedy: 'Select in the query what the lens makes it of, or leave the field out.',
      }),
    ]
  return []
}

function sameInOtherCase(name: string, unknown: RowFacts['unknown']): string {
  const found = Object.keys(unknown).find((each) => each.toLowerCase() === name.toLowerCase())
  return found === undefined
    ? 'Name it as the lens does, or leave it out.'
    : `The lens writes ${found}: names have to be the same in every letter.`
}

/** One finding for all that the lenses make, or the query selects where there are none. */
function unknownFields({ unknown, rows, given }: RowFacts): ViewFinding[] {
  const names = Object.entries(unknown)
    .filter(([name]) => !given.includes(name))
    .map(([name, count]) => (count === rows ? name : `${name} (${count} of ${rows} rows)`))
  if (names.length === 0) return []
  return [
    finding(
      'warning',
      'OUTPUT_FIELD_NOT_IN_SDL',
      `rows have what is not in the SDL and is left out: ${names.join(', ')}`,
      { remedy: 'Add what is wanted to the SDL.' },
    ),
  ]
}

/** Rows that depend on which documents are in a block together. */
export function aggregationFinding(): ViewFinding {
  return finding(
    'warning',
    'AGGREGATES_PER_BLOCK',
    'the lenses make other rows of documents that come together than of the same ones alone: what they add up is of one block, not of the chain',
    {
      kind: 'performance',
      remedy: perBlockRemedy,
    },
  )
}

/** Shares of the memory that one lens may have. */
const pressure = 0.5
const critical = 0.8
const lensMemoryBytes = moduleLimits.memoryPages * 64 * 1024

/** Pages of 64 KiB: with fewer, a lens runs out of memory at a document or a block that is larger than others. */
const enoughPages = 4

/** Lenses whose own memory may not grow. `modules` have gone through `checkModule`. */
export function lowMemoryFindings(modules: readonly Uint8Array[]): ViewFinding[] {
  return modules.flatMap((module, index) => {
    const pages = mostMemoryPages(module)
    if (pages >= enoughPages) return []
    return [
      finding(
        'warning',
        'WASM_LOW_MEMORY',
        `the memory of lens ${index + 1} cannot grow beyond ${pages} pages of 64 KiB`,
        { kind: 'performance', remedy: 'Build it without a greatest size of its memory.' },
      ),
    ]
  })
}

/** Whether a lens is near its limit of memory; the lenses of a View share what was measured. */
export function memoryFindings(
  { memoryBytes, documents }: Measurement,
  lenses: number,
): ViewFinding[] {
  const share = lenses === 0 ? 0 : memoryBytes / (lenses * lensMemoryBytes)
  if (share < pressure) return []
  const code = share < critical ? 'WASM_MEMORY_PRESSURE' : 'WASM_MEMORY_CRITICAL'
  return [
    finding(
      'warning',
      code,
      `${documents} documents take ${memoryBytes} bytes of the ${lenses * lensMemoryBytes} that the lenses may have`,
      { kind: 'performance', remedy: 'Free or use again what a lens needs for one document only.' },
    ),
  ]
}

function finding(
  severity: ViewFinding['severity'],
  code: string,
  message: string,
  { kind = 'row', remedy }: { readonly kind?: ViewFinding['kind']; readonly remedy: string },
): ViewFinding {
  return { severity, kind, code, message, remedy, blocks: [] }
}
