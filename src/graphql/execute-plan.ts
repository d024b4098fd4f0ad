/**
 * Runs a plan: its root fields one after the other, introspection by graphql-js.
 */
import {
  type DocumentNode,
  executeSync,
  type FieldNode,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
} from 'graphql'
import { withAttestedDocs } from './attested-doc.ts'
import { findCommits } from './find-commits.ts'
import { groupRequest, rootGroups } from './group.ts'
import { listText } from './json-text.ts'
import type { ListPlan, QueryPlan, RootField } from './plan.ts'
import { renderGroups, renderRows, rowRequest } from './render-rows.ts'
import { rootAggregate } from './root-aggregate.ts'
import { type Run, scanOf } from './run.ts'
import { selectRows } from './select-rows.ts'

/** What introspection needs. */
export interface Introspection {
  readonly schema: GraphQLSchema
  /** The rewritten document, for its fragments. */
  readonly document: DocumentNode
  readonly operation: OperationDefinitionNode
}

/**
 * The data of an answer as pieces of JSON text. Throws GraphQLError with the place of the field that
 * failed.
 */
export async function executePlan(
  run: Run,
  plan: QueryPlan,
  introspection: Introspection,
): Promise<string[]> {
  const pieces: string[] = []
  for (const field of plan.fields) {
    pieces.push(`${pieces.length === 0 ? '{' : ','}"${field.key}":`)
    pieces.push(...(await rootPieces(run, field, introspection)))
  }
  pieces.push(pieces.length === 0 ? '{}' : '}')
  return pieces
}

async function rootPieces(
  run: Run,
  field: RootField,
  introspection: Introspection,
): Promise<readonly string[]> {
  switch (field.type) {
    case 'constant':
      return [JSON.stringify(field.value)]
    case 'introspection':
      return [introspect(run, field, introspection)]
    case 'commits':
      return await located(field.source.node, field.key, async () => [await commits(run, field)])
    case 'aggregate':
      return await located(field.aggregate.source.node, field.key, async () => [
        JSON.stringify(await rootAggregate(run, field.aggregate)),
      ])
    case 'list':
      return await located(field.node, field.key, () => rootList(run, field.list))
  }
}

/** Errors without a place get that of the root field. */
async function located<T>(node: FieldNode, key: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof GraphQLError) || error.nodes !== undefined) throw error
    const { message, extensions } = error
    throw new GraphQLError(message, { nodes: node, path: [key], extensions })
  }
}

async function rootList(run: Run, list: ListPlan): Promise<readonly string[]> {
  const { work } = run.session
  if (list.type === 'groups') {
    const request = await withAttestedDocs(run, list.entity, groupRequest(run, list))
    const groups = await rootGroups(run, list, request)
    return [await listText(work, await renderGroups(run, groups, list.selection))]
  }
  const request = await withAttestedDocs(run, list.entity, rowRequest(run, list))
  await work.pause()
  const pieces: string[] = []
  for await (const rows of selectRows(scanOf(run, list.entity), request)) {
    work.addRows(rows.length)
    const texts = await renderRows(run, rows, list.selection)
    pieces.push(pieces.length === 0 ? '[' : ',', texts.join(','))
  }
  pieces.push(pieces.length === 0 ? '[]' : ']')
  return pieces
}

async function commits(run: Run, field: Extract<RootField, { type: 'commits' }>): Promise<string> {
  const text = JSON.stringify(await findCommits(run, field))
  run.session.work.addBytes(text.length)
  return text
}

type IntrospectionField = Extract<RootField, { type: 'introspection' }>

/** What introspection without variables answered; it never changes. */
const introspected = new WeakMap<IntrospectionField, string>()

/** Introspection reads the schema alone, so it is left to graphql-js. */
function introspect(
  run: Run,
  field: IntrospectionField,
  { schema, document, operation }: Introspection,
): string {
  const known = introspected.get(field)
  if (known !== undefined) return known
  const selectionSet = { kind: Kind.SELECTION_SET, selections: field.nodes } as const
  const fragments = document.definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION)
  const result = executeSync({
    schema,
    document: { kind: Kind.DOCUMENT, definitions: [{ ...operation, selectionSet }, ...fragments] },
    variableValues: run.variables,
  })
  const [error] = result.errors ?? []
  if (error !== undefined) throw error
  const answer = JSON.stringify(result.data?.[field.key] ?? null)
  if (Object.keys(run.variables).length === 0) introspected.set(field, answer)
  return answer
}
