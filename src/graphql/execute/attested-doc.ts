/**
 * A filter on `attested_doc` may name a document by its `_docID`: the answer is its block's record.
 * Before such a filter runs, each docID in it is replaced by the text that the record has.
 */
import { parseDocID } from '../../primitives/doc-id.ts'
import { attestedDoc } from '../catalog/attestation-record.ts'
import { type Entity, findAttribute } from '../catalog/entity.ts'
import type { FilterCondition, ValueCondition } from '../filter/condition.ts'
import { everyRow, type ListRequest } from '../filter/list-request.ts'
import type { Operand } from '../filter/value-test.ts'
import { selectRows } from '../scan/select-rows.ts'
import { type Run, scanOf } from './run.ts'

/** The request with docIDs of documents replaced; other entities' requests are returned as they are. */
export async function withAttestedDocs(
  run: Run,
  entity: Entity,
  request: ListRequest,
): Promise<ListRequest> {
  if (entity.name !== 'AttestationRecord') return request
  return { ...request, condition: await replaceIn(run, request.condition) }
}

async function replaceIn(run: Run, condition: FilterCondition): Promise<FilterCondition> {
  switch (condition.op) {
    case 'and':
    case 'or': {
      const parts: FilterCondition[] = []
      for (const part of condition.parts) parts.push(await replaceIn(run, part))
      return { op: condition.op, parts }
    }
    case 'not':
      return { op: 'not', part: await replaceIn(run, condition.part) }
    case 'value':
      return await replaceOperand(run, condition)
    default:
      return condition
  }
}

async function replaceOperand(run: Run, condition: ValueCondition): Promise<ValueCondition> {
  const { attribute, operator, operand } = condition
  if (attribute.name !== 'attested_doc') return condition
  const isList = operator === '_in' || operator === '_nin'
  if (!isList && operator !== '_eq' && operator !== '_neq') return condition
  const operands: Operand[] = []
  for (const one of isList ? (operand as readonly Operand[]) : [operand as Operand]) {
    operands.push(await recordText(run, one))
  }
  return { ...condition, operand: isList ? operands : (operands[0] ?? null) }
}

async function recordText(run: Run, operand: Operand): Promise<Operand> {
  const id = typeof operand === 'string' ? parseDocID(operand.toLowerCase()) : null
  const entity = id === null ? undefined : run.catalog.get(id.collection)
  const attribute = entity === undefined ? undefined : findAttribute(entity, '_docID')
  if (entity === undefined || attribute === undefined) return operand
  const wanted = typeof operand === 'string' ? operand.toLowerCase() : operand
  const condition: FilterCondition = { op: 'value', attribute, operator: '_eq', operand: wanted }
  for await (const rows of selectRows(scanOf(run, entity), { ...everyRow, condition, limit: 1 })) {
    const [row] = rows
    if (row !== undefined) return attestedDoc(row.block.height, row.block.header.root)
  }
  return operand
}
