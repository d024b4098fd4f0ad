/**
 * What was learnt from the cluster, or decided, and went into a pod template. It is kept on the StatefulSet, so that
 * a later look that finds less, or an operator that has just started, replaces no pod.
 */
import { records } from '../api/annotations.ts'
import type { GeneratorReference } from '../api/common-spec.ts'
import { canonicalJson } from './canonical-json.ts'
import type { ExecutionNode } from './context.ts'
import { fieldsOf, parseFields } from './unchecked-json.ts'

export interface Learnt {
  readonly executionNode?: ExecutionNode | null
  readonly schemaSource?: Required<GeneratorReference> | null
  /** When the generated schema keys were last made anew. */
  readonly schemaKeysRenewed?: string | null
  /**
   * Whether the template tells a Host of a file of signers; null where an older operator made it, which knew of
   * none, and the Host names Generators.
   */
  readonly hasSignersFile?: boolean | null
}

/** None where nothing was learnt. */
export function learntAnnotations(learnt: Learnt): Record<string, string> {
  const found = Object.entries(learnt).filter(([, value]) => value !== null && value !== undefined)
  if (found.length === 0) return {}
  return { [records.learnt]: canonicalJson(Object.fromEntries(found)) }
}

/** What the annotations say; nothing where they are missing or were edited into something else. */
export function readLearnt(
  annotations: Readonly<Record<string, string>> | undefined,
): Required<Learnt> {
  const learnt = parseFields(annotations?.[records.learnt] ?? '')
  const { executionNode, schemaSource, schemaKeysRenewed, hasSignersFile } = learnt
  const source = fieldsOf(schemaSource)
  return {
    executionNode: readNode(fieldsOf(executionNode)),
    schemaSource:
      typeof source['namespace'] === 'string' && typeof source['name'] === 'string'
        ? { namespace: source['namespace'], name: source['name'] }
        : null,
    schemaKeysRenewed: typeof schemaKeysRenewed === 'string' ? schemaKeysRenewed : null,
    hasSignersFile: typeof hasSignersFile === 'boolean' ? hasSignersFile : null,
  }
}

function readNode({
  namespace,
  labels,
  service,
  isHostNetwork,
}: Readonly<Record<string, unknown>>): ExecutionNode | null {
  if (typeof namespace !== 'string' || !isTexts(labels)) return null
  return {
    namespace,
    labels,
    ...(typeof service === 'string' ? { service } : {}),
    ...(isHostNetwork === true ? { isHostNetwork } : {}),
  }
}

function isTexts(value: unknown): value is Readonly<Record<string, string>> {
  const texts = Object.values(fieldsOf(value))
  return texts.length > 0 && texts.every((text) => typeof text === 'string')
}
