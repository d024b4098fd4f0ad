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
import type { Json } from './commit-view.ts'
import { findCommits } from './find-commits.ts'
import { groupRequest, rootGroups } from './group.ts'
import type { ListPlan, QueryPlan, RootField } from './plan.ts'
import { type JsonObject, renderGroups, renderRows, rowRequest } from './render-rows.ts'
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

/** The data of an answer. Throws GraphQLError with the place of the field that failed. */
export async function executePlan(
  run: Run,
  plan: QueryPlan,
  introspection: Introspection,
): Promise<JsonObject> {
  const data: JsonObject = {}
  for (const field of plan.fields) data[field.key] = await rootValue(run, field, introspection)
  return data
}

async function rootValue(run: Run, field: RootField, introspection: Introspection): Promise<Json> {
  switch (field.type) {
    case 'constant':
      return field.value
    case 'introspection':
      return introspect(run, field, introspection)
    case 'commits':
      return await located(field.source.node, field.key, () => findCommits(run, field))
    case 'aggregate':
      return await located(field.aggregate.source.node, field.key, () =>
        rootAggregate(run, field.aggregate),
      )
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

async function rootList(run: Run, list: ListPlan): Promise<Json> {
  if (list.type === 'groups') {
    const request = await withAttestedDocs(run, list.entity, groupRequest(run, list))
    return await renderGroups(run, await rootGroups(run, list, request), list.selection)
  }
  const request = await withAttestedDocs(run, list.entity, rowRequest(run, list))
  const objects: JsonObject[] = []
  for await (const rows of selectRows(scanOf(run, list.entity), request)) {
    run.session.work.addRows(rows.length)
    for (const object of await renderRows(run, rows, list.selection)) objects.push(object)
  }
  return objects
}

type IntrospectionField = Extract<RootField, { type: 'introspection' }>

/** What introspection without variables answered; it never changes. */
const introspected = new WeakMap<IntrospectionField, Json>()

/** Introspection reads the schema alone, so it is left to graphql-js. */
function introspect(
  run: Run,
  field: IntrospectionField,
  { schema, document, operation }: Introspection,
): Json {
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
  const answer = (result.data?.[field.key] ?? null) as Json
  if (Object.keys(run.variables).length === 0) introspected.set(field, answer)
  return answer
}
