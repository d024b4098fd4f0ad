/** What a test of a View finds wrong, under the codes that tools for Views share. */
import type { ErrorCode, Fact, ServiceError } from '../../errors.ts'
import { startSection } from '../../lens/program/lens-error.ts'

/** Which part is to be changed. */
type FindingKind =
  | 'schema error'
  | 'invalid lens configuration'
  | 'compile failure'
  | 'run failure'
  | 'row'
  | 'performance'

export interface ViewFinding {
  /** A test with an error fails. */
  readonly severity: 'error' | 'warning'
  readonly kind: FindingKind
  /** Stays the same from version to version. */
  readonly code: string
  readonly message: string
  readonly remedy: string | null
  /** The blocks at which it was found; empty where it is none of a block. */
  readonly blocks: readonly number[]
}

/** A failure as a finding. */
export function toFinding(error: ServiceError, block: number | null = null): ViewFinding {
  const { kind, code } = classOf(error)
  return {
    severity: 'error',
    kind,
    code,
    message: error.message,
    remedy: error.remedy ?? null,
    blocks: block === null ? [] : [block],
  }
}

interface FindingClass {
  readonly kind: FindingKind
  readonly code: string
}

interface Rule extends FindingClass {
  /** Of the failure. */
  readonly of: ErrorCode
  /** A fact that the failure has to have, and its value where only one will do. */
  readonly fact?: readonly [name: string, value?: Fact]
  /** What the text of a lens has to say: of its own errors nothing else is known. */
  readonly text?: RegExp
}

const schema = (of: ErrorCode, code: string = of): Rule => ({ of, kind: 'schema error', code })
const configuration = (of: ErrorCode): Rule => ({
  of,
  kind: 'invalid lens configuration',
  code: of,
})
const compile = (of: ErrorCode, code: string, fact?: Rule['fact']): Rule => ({
  ...{ of, kind: 'compile failure', code },
  ...(fact !== undefined && { fact }),
})

/** The first that fits counts. */
const rules: readonly Rule[] = [
  schema('VIEWS_SDL_INVALID', 'SDL_PARSE_FAILED'),
  schema('VIEWS_QUERY_INVALID'),
  schema('TOOLKIT_CHAIN_INCOMPATIBLE', 'CHAIN_INCOMPATIBLE'),
  schema('HOST_VIEW_REFUSED'),
  configuration('VIEWS_ARGUMENTS_INVALID'),
  configuration('LENS_ARGUMENTS_REFUSED'),
  compile('LENS_OUTPUT_INVALID', 'WASM_MISSING_EXPORT', ['export']),
  compile('LENS_MODULE_REFUSED', 'LENS_MODULE_REFUSED', ['import']),
  compile('LENS_MODULE_REFUSED', 'WASM_INSUFFICIENT_MEMORY', ['pages']),
  compile('LENS_MODULE_REFUSED', 'WASM_INSTANTIATION_FAILED'),
  compile('LENS_TRAPPED', 'WASM_INSTANTIATION_FAILED', ['during', startSection]),
  {
    ...{ of: 'LENS_OUTPUT_LIMIT', fact: ['memoryBytes'] },
    ...{ kind: 'run failure', code: 'WASM_INSUFFICIENT_MEMORY' },
  },
  { of: 'LENS_MEMORY_LIMIT', kind: 'run failure', code: 'WASM_INSUFFICIENT_MEMORY' },
  {
    ...{
      of: 'LENS_FAILED',
      text: /no field '(?:transaction|block)'|Requested: (?:transaction|block)\b/,
    },
    ...{ kind: 'run failure', code: 'QUERY_MISSING_EVM_RELATION' },
  },
  {
    ...{ of: 'LENS_FAILED', text: /no field '|Requested: / },
    ...{ kind: 'run failure', code: 'QUERY_MISSING_EVM_FIELD' },
  },
]

function classOf(error: ServiceError): FindingClass {
  return rules.find((rule) => isOfRule(error, rule)) ?? { kind: 'run failure', code: error.code }
}

function isOfRule({ code, message, facts }: ServiceError, { of, fact, text }: Rule): boolean {
  if (code !== of || text?.test(message) === false) return false
  if (fact === undefined) return true
  const [name, value = facts[name]] = fact
  return facts[name] !== undefined && facts[name] === value
}

/** Findings that differ in their blocks alone, as one. */
export function mergeFindings(findings: readonly ViewFinding[]): ViewFinding[] {
  const merged = new Map<string, ViewFinding>()
  for (const finding of findings) {
    const key = `${finding.code} ${finding.message}`
    const before = merged.get(key)
    merged.set(key, { ...finding, blocks: [...(before?.blocks ?? []), ...finding.blocks] })
  }
  return [...merged.values()]
}
