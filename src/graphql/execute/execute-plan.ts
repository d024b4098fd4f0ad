/**
 * Runs a plan: its root fields one after the other.
 */
import { type FieldNode, GraphQLError, type GraphQLSchema } from 'graphql'
import type { ListPlan, QueryPlan, RootField } from '../plan/plan.ts'
import { selectRows } from '../scan/select-rows.ts'
import { withAttestedDocs } from './attested-doc.ts'
import { findCommits } from './find-commits.ts'
import { groupRequest, rootGroups } from './group.ts'
import { introspect } from './introspect.ts'
import { itemPieces } from './json-text.ts'
import { renderGroups, renderRows } from './render-rows.ts'
import { rootAggregate } from './root-aggregate.ts'
import { rowRequest } from './row-request.ts'
import { type Run, readsSource, scanOf } from './run.ts'

/**
 * The data of an answer as pieces of JSON text. Throws GraphQLError with the place of the field that
 * failed.
 */
export async function executePlan(
  run: Run,
  plan: QueryPlan,
  schema: GraphQLSchema,
): Promise<string[]> {
  const pieces: string[] = []
  for (const field of plan.fields) {
    pieces.push(`${pieces.length === 0 ? '{' : ','}"${field.key}":`)
    pieces.push(...(await rootPieces(run, field, schema)))
  }
  pieces.push(pieces.length === 0 ? '{}' : '}')
  return pieces
}

async function rootPieces(
  run: Run,
  field: RootField,
  schema: GraphQLSchema,
): Promise<readonly string[]> {
  switch (field.type) {
    case 'constant':
      return [JSON.stringify(field.value)]
    case 'introspection':
      return await introspect(run, field.field, schema)
    case 'commits':
      return await located(field.source.node, field.key, async () =>
        listPieces(await findCommits(run, field)),
      )
    case 'aggregate':
      return await located(field.aggregate.source.node, field.key, async () => [
        JSON.stringify(await rootAggregate(run, field.aggregate)),
      ])
    case 'list':
      return await located(field.node, field.key, () => rootList(run, field.list))
  }
}

/** Errors without a place get that of the root field. */
async function located<T>(node: FieldNode, key: string, execute: () => Promise<T>): Promise<T> {
  try {
    return await execute()
  } catch (error) {
    if (!(error instanceof GraphQLError) || error.nodes !== undefined) throw error
    const { message, extensions } = error
    throw new GraphQLError(message, { nodes: node, path: [key], extensions })
  }
}

async function rootList(run: Run, list: ListPlan): Promise<readonly string[]> {
  const { budget } = run.session
  if (list.type === 'groups') {
    const request = await withAttestedDocs(run, list.entity, groupRequest(run, list))
    const reservation = budget.openReservation()
    const groups = await rootGroups(run, list, request, reservation)
    const texts = await renderGroups(run, groups, list.selection)
    reservation.release()
    return listPieces(texts)
  }
  const request = await withAttestedDocs(run, list.entity, rowRequest(run, list))
  await budget.yieldIfDue()
  const pieces: string[] = []
  const scan = scanOf(run, list.entity, readsSource(list))
  for await (const rows of selectRows(scan, request)) {
    budget.addRows(rows.length)
    const texts = await renderRows(run, rows, list.selection)
    pieces.push(pieces.length === 0 ? '[' : ',', ...itemPieces(texts))
  }
  pieces.push(pieces.length === 0 ? '[]' : ']')
  return pieces
}

const listPieces = (texts: readonly string[]): readonly string[] => ['[', ...itemPieces(texts), ']']
