/** What conditions on the number of a block say about it: exactly which blocks they accept. */
import {
  allHeights,
  type HeightRanges,
  intersectHeights,
  subtractHeights,
  toHeightRanges,
  uniteHeights,
} from '../../primitives/height-ranges.ts'
import type { Entity } from '../catalog/entity.ts'
import { allOf, type FilterCondition, type ValueCondition } from '../filter/condition.ts'
import type { Operand } from '../filter/value-test.ts'

const last = Number.MAX_SAFE_INTEGER

/** The heights that an operator accepts; null where it may accept any, or what has none. */
export function heightsOf({
  operator,
  operand,
}: Pick<ValueCondition, 'operator' | 'operand'>): HeightRanges | null {
  if (operator === '_in') {
    const members = (operand as readonly Operand[]).filter((one) => typeof one === 'number')
    return toHeightRanges(members)
  }
  if (typeof operand !== 'number') return null
  const bounds: Partial<Record<typeof operator, readonly [number, number]>> = {
    _eq: [operand, operand],
    _gt: [operand + 1, last],
    _geq: [operand, last],
    _lt: [0, operand - 1],
    _leq: [0, operand],
  }
  const bound = bounds[operator]
  return bound === undefined ? null : intersectHeights([bound], allHeights)
}

/** A condition in two parts that must both hold. */
interface SplitCondition {
  /** The blocks that are accepted. */
  readonly heights: HeightRanges
  /** Everything else. */
  readonly rest: FilterCondition
}

/** Takes out what is asked of the block's number alone, as far as all of it must hold. */
export function splitByHeight(entity: Entity, condition: FilterCondition): SplitCondition {
  const parts = condition.op === 'and' ? condition.parts : [condition]
  let heights = allHeights
  const rest: FilterCondition[] = []
  for (const part of parts) {
    const accepted = heightsAccepted(entity, part)
    if (accepted === null) rest.push(part)
    else heights = intersectHeights(heights, accepted)
  }
  return { heights, rest: allOf(rest) }
}

function heightsAccepted(entity: Entity, condition: FilterCondition): HeightRanges | null {
  if (condition.op === 'value') {
    const isOfBlock = condition.attribute === entity.attributes.get('_blockNumber')
    return isOfBlock ? heightsOfValue(condition) : null
  }
  if (condition.op === 'not') return allBut(heightsAccepted(entity, condition.part))
  if (condition.op !== 'and' && condition.op !== 'or') return null
  const parts = condition.parts.map((part) => heightsAccepted(entity, part))
  if (!parts.every((part) => part !== null)) return null
  return condition.op === 'or'
    ? uniteHeights(parts.flat())
    : parts.reduce((found, part) => intersectHeights(found, part), allHeights)
}

/** Rows of no block, which an operator may accept besides, are made of the blocks that are read. */
function heightsOfValue({ operator, operand }: ValueCondition): HeightRanges | null {
  if (Array.isArray(operand) && operand.includes(null)) return null
  if (operator === '_neq') return allBut(heightsOf({ operator: '_eq', operand }))
  if (operator === '_nin') return allBut(heightsOf({ operator: '_in', operand }))
  return heightsOf({ operator, operand })
}

function allBut(heights: HeightRanges | null): HeightRanges | null {
  return heights && subtractHeights(allHeights, heights)
}
