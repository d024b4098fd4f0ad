/**
 * What was discovered in the cluster, or decided, and went into a pod template. It is kept on the StatefulSet, so that
 * a later fetch that finds less, or an operator that has just started, replaces no pod.
 */
import { records } from '../../api/annotations.ts'
import type { GeneratorReference } from '../../api/common-spec.ts'
import { canonicalJson } from '../names/canonical-json.ts'
import { fieldsOf, parseFields } from '../names/unchecked-json.ts'
import type { ExecutionNode } from './context.ts'

export interface Discovered {
  readonly executionNode?: ExecutionNode | null
  readonly schemaSource?: Required<GeneratorReference> | null
  /** When the generated schema keys were last renewed. */
  readonly schemaKeysRenewed?: string | null
  /**
   * Whether the template names a file of signers for a Host; null where an older operator made it, which knew of
   * none, and the Host names Generators.
   */
  readonly hasSignersFile?: boolean | null
}

/** None where nothing was discovered. */
export function discoveredAnnotations(discovered: Discovered): Record<string, string> {
  const found = Object.entries(discovered).filter(
    ([, value]) => value !== null && value !== undefined,
  )
  if (found.length === 0) return {}
  return { [records.discovered]: canonicalJson(Object.fromEntries(found)) }
}

/** What the annotations say; nothing where they are missing or were edited into something else. */
export function readDiscovered(
  annotations: Readonly<Record<string, string>> | undefined,
): Required<Discovered> {
  const discovered = parseFields(annotations?.[records.discovered] ?? '')
  const { executionNode, schemaSource, schemaKeysRenewed, hasSignersFile } = discovered
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
