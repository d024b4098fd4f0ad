/** What a test of a View finds wrong, under the codes that tools for Views share. */
import type { ServiceError } from '../../errors.ts'

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

/** By the code of the failure, and by its text where that says more; the first that fits counts. */
const classes: readonly (readonly [code: string, text: RegExp, FindingClass])[] = [
  ['VIEWS_SDL_INVALID', /^/, { kind: 'schema error', code: 'SDL_PARSE_FAILED' }],
  ['VIEWS_QUERY_INVALID', /^/, { kind: 'schema error', code: 'VIEWS_QUERY_INVALID' }],
  ['TOOLKIT_CHAIN_INCOMPATIBLE', /^/, { kind: 'schema error', code: 'CHAIN_INCOMPATIBLE' }],
  ['HOST_VIEW_REFUSED', /^/, { kind: 'schema error', code: 'HOST_VIEW_REFUSED' }],
  [
    'VIEWS_ARGUMENTS_INVALID',
    /^/,
    { kind: 'invalid lens configuration', code: 'VIEWS_ARGUMENTS_INVALID' },
  ],
  [
    'LENS_ARGUMENTS_REFUSED',
    /^/,
    { kind: 'invalid lens configuration', code: 'LENS_ARGUMENTS_REFUSED' },
  ],
  [
    'LENS_OUTPUT_INVALID',
    /exports no (?:function|memory)/,
    { kind: 'compile failure', code: 'WASM_MISSING_EXPORT' },
  ],
  [
    'LENS_MODULE_REFUSED',
    /does not import lens\.next/,
    { kind: 'compile failure', code: 'LENS_MODULE_REFUSED' },
  ],
  [
    'LENS_MODULE_REFUSED',
    /memory|pages/,
    { kind: 'compile failure', code: 'WASM_INSUFFICIENT_MEMORY' },
  ],
  ['LENS_MODULE_REFUSED', /^/, { kind: 'compile failure', code: 'WASM_INSTANTIATION_FAILED' }],
  [
    'LENS_TRAPPED',
    /in its start section/,
    { kind: 'compile failure', code: 'WASM_INSTANTIATION_FAILED' },
  ],
  [
    'LENS_OUTPUT_LIMIT',
    /bytes of memory together/,
    { kind: 'run failure', code: 'WASM_INSUFFICIENT_MEMORY' },
  ],
  ['LENS_MEMORY_LIMIT', /^/, { kind: 'run failure', code: 'WASM_INSUFFICIENT_MEMORY' }],
  [
    'LENS_FAILED',
    /no field '(?:transaction|block)'|Requested: (?:transaction|block)\b/,
    { kind: 'run failure', code: 'QUERY_MISSING_EVM_RELATION' },
  ],
  [
    'LENS_FAILED',
    /no field '|Requested: /,
    { kind: 'run failure', code: 'QUERY_MISSING_EVM_FIELD' },
  ],
]

function classOf({ code, message }: ServiceError): FindingClass {
  const found = classes.find(([own, text]) => own === code && text.test(message))
  return found?.[2] ?? { kind: 'run failure', code }
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
