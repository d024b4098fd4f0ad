/** Makes the file of a View from its definition and the ConfigMaps with its lenses, by the same code as a Host reads it. */
import { createHash } from 'node:crypto'
import type { V1ConfigMap } from '@kubernetes/client-node'
import { ServiceError } from '../../../src/errors.ts'
import { networkOfQuery } from '../../../src/views/query-network.ts'
import { readRegistration } from '../../../src/views/registration.ts'
import type { View as Source } from '../../../src/views/view.ts'
import { parseViewFile, toViewFile } from '../../../src/views/view-file.ts'
import { noSender, viewIDs } from '../../../src/views/view-id.ts'
import { decodeView, encodeView } from '../../../src/views/wire.ts'
import type { ReasonOf } from '../../api/conditions.ts'
import type { ViewDefinition, ViewLens } from '../../api/view-spec.ts'
import type { ViewResource } from '../../api.ts'
import { canonicalJson } from '../../resources/names/canonical-json.ts'
import type { StoredView } from '../../resources/pod/placed-views.ts'
import type { KubernetesApi } from '../../runtime/client/api.ts'
import type { KubernetesObject } from '../../runtime/client/kubernetes-object.ts'
import { builtinTypes } from '../../runtime/client/resource-type.ts'
import type { Statement } from '../statements/problem.ts'
import { remedied } from '../statements/sentences.ts'

/** A View that can be handed to Hosts. */
export interface ReadView {
  readonly file: StoredView
  readonly id: string
  readonly address: string
  /** Name of the type of its rows. */
  readonly type: string
}

/** What came of a definition: the View, or why there is none. */
export type DefinitionResult =
  | { readonly view: ReadView; readonly wrong: null }
  | { readonly view: null; readonly wrong: Statement<ReasonOf<'Validated'>> }

/** Reads the lenses, and makes the file. What the API server answers otherwise is thrown. */
export async function buildView(
  api: Pick<KubernetesApi, 'find'>,
  view: ViewResource,
  definition: ViewDefinition,
  signal: AbortSignal,
): Promise<DefinitionResult> {
  const { namespace } = view.metadata
  const modules: Uint8Array[] = []
  for (const lens of definition.lenses ?? []) {
    const found = await readModule(api, namespace, lens, signal)
    if ('wrong' in found) return { view: null, wrong: found.wrong }
    modules.push(found.wasm)
  }
  try {
    return { view: readView(sourceOf(definition, modules), senderOf(view)), wrong: null }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const reason = error.code === 'VIEWS_TOO_LARGE' ? 'TooLarge' : 'InvalidDefinition'
    return { view: null, wrong: { reason, message: remedied(error) } }
  }
}

/** Whose View it is: the address that registers it, once that is known. */
export function senderOf({ status }: ViewResource): string {
  return status?.registration?.creator?.toLowerCase() ?? noSender
}

/** The View in a file that was kept, where it is what the definition says, as one of this sender; null otherwise. */
export function readStored(
  definition: ViewDefinition,
  { name, bytes }: StoredView,
  sender: string,
): ReadView | null {
  try {
    const { sender: kept, wire } = parseViewFile(Buffer.from(bytes, 'base64'))
    const found = decodeView(wire)
    const isOurs = kept === sender || kept === noSender
    if (name !== `${viewIDs(kept, wire).id}.view` || !isOurs || !isOf(definition, found))
      return null
    return readWire(found, wire, sender)
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return null
  }
}

function readView(source: Source, sender: string): ReadView {
  return readWire(source, encodeView(source), sender)
}

function readWire(source: Source, wire: Uint8Array, sender: string): ReadView {
  const { rowType, id, address } = registrationOf(source, wire, sender)
  const { name, bytes } = toViewFile({ sender, wire })
  const file = { name, bytes: Buffer.from(bytes).toString('base64') }
  return { file, id, address, type: rowType.name }
}

/** Without hashing the modules, whose hashes nobody asks for here. */
function registrationOf(
  source: Source,
  wire: Uint8Array,
  sender: string,
): ReturnType<typeof readRegistration> {
  const facts = { ...viewIDs(sender, wire), lenses: [] }
  const registration = { sender, registeredAt: null, wire }
  return readRegistration(registration, source, networkOfQuery(source.query), facts)
}

function sourceOf(
  { query, sdl, lenses = [] }: ViewDefinition,
  modules: readonly Uint8Array[],
): Source {
  return {
    query,
    sdl,
    lenses: modules.map((wasm, index) => ({ wasm, args: argumentsOf(lenses[index]) })),
  }
}

/** In the order of their names, since the API server keeps no other. */
function argumentsOf(lens: ViewLens | undefined): string {
  return lens?.arguments === undefined ? '' : canonicalJson(lens.arguments)
}

function isOf(definition: ViewDefinition, { query, sdl, lenses }: Source): boolean {
  const wanted = definition.lenses ?? []
  return (
    query === definition.query &&
    sdl === definition.sdl &&
    lenses.length === wanted.length &&
    lenses.every(
      ({ wasm, args }, index) =>
        sha256(wasm) === wanted[index]?.wasm.sha256 && args === argumentsOf(wanted[index]),
    )
  )
}

type FoundModule =
  | { readonly wasm: Uint8Array }
  | { readonly wrong: Statement<ReasonOf<'Validated'>> }

async function readModule(
  api: Pick<KubernetesApi, 'find'>,
  namespace: string,
  { label, wasm: { configMapRef, sha256: wanted } }: ViewLens,
  signal: AbortSignal,
): Promise<FoundModule> {
  const { name, key } = configMapRef
  const address = { type: builtinTypes.ConfigMap, namespace, name }
  const found = (await api.find<KubernetesObject>(address, { signal })) as V1ConfigMap | null
  const text = found?.binaryData?.[key]
  if (text === undefined) {
    const what =
      found === null
        ? `There is no ConfigMap ${name}`
        : `ConfigMap ${name} has no ${key} in binaryData`
    const message = `${what}, where lens ${label} is. Create it: kubectl create configmap ${name} -n ${namespace} --from-file=${key}=FILE.wasm`
    return { wrong: { reason: 'LensMissing', message } }
  }
  const wasm = new Uint8Array(Buffer.from(text, 'base64'))
  const hash = sha256(wasm)
  if (hash === wanted) return { wasm }
  const message = `Key ${key} of ConfigMap ${name}, where lens ${label} is, has the SHA-256 ${hash}, and the spec says ${wanted}. Put the right module there, or create another View with this hash.`
  return { wrong: { reason: 'LensMismatch', message } }
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
