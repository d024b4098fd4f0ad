/**
 * Compiles an aggregate: `COUNT(transactions: {...})` and its like. Its arguments name what it is
 * taken over.
 */
import { invariant } from '../errors.ts'
import { refusal } from './limits.ts'
import type { AggregateField, AggregateTarget, ArgumentSource } from './plan.ts'
import { foldOf } from './spelling.ts'

/** Compiles an aggregate. Throws GraphQLError when no argument says over what. */
export function compileAggregate(
  key: string,
  source: ArgumentSource,
  toTarget: (argument: string) => AggregateTarget | undefined,
): AggregateField {
  const fold = foldOf(source.node.name.value)
  invariant(fold !== undefined, `${source.node.name.value} is an aggregate`)
  const names = (source.node.arguments ?? []).map((argument) => argument.name.value)
  const targets = names.map((name) => {
    const target = toTarget(name)
    invariant(target !== undefined, `${fold} has a target ${name}`)
    return target
  })
  if (targets.length > 0) return { type: 'aggregate', key, fold, source, targets }
  const choices = source.field.args.filter(
    (one) => one.deprecationReason === undefined && !one.name.includes('__'),
  )
  throw refusal(
    'GRAPHQL_CONDITION_INVALID',
    'aggregate must be provided with a property to aggregate.',
    `Name one of: ${choices.map((one) => one.name).join(', ')}.`,
    source.node,
  )
}
