/**
 * What no test could see, where no change is tried: declarations of types, lines of the log with the conditions that
 * are for them alone, the declarations of metrics (name, help and buckets; what fills them counts), `invariant`, which
 * by its meaning never fails, the room that a writer begins with, which grows, and names for chosen numbers such as
 * `const timeoutMs = 30 * 1000`.
 */
import ts from 'typescript'
import { isChosen } from './chosen-numbers.ts'

const levels: ReadonlySet<string> = new Set(['trace', 'debug', 'info', 'warn', 'error', 'fatal'])

const metricKinds: ReadonlySet<string> = new Set(['Counter', 'Gauge', 'Histogram', 'Summary'])

/** Whether nothing in a node is to be changed. */
export function isUnseen(node: ts.Node): boolean {
  if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node))
    return true
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return true
  if (ts.isExpressionStatement(node)) return isUnseen(node.expression)
  if (ts.isCallExpression(node))
    return isLogLine(node) || isCallOf(node, 'invariant') || isCallOf(node, 'createByteWriter')
  if (ts.isBlock(node) || ts.isIfStatement(node)) return isOnlyLog(node)
  if (ts.isPropertyAssignment(node)) return isMetricFact(node) || isChosen(node.initializer)
  return isChosenValue(node)
}

/** `log.info(…)` and the like, whoever holds the log. */
function isLogLine({ expression }: ts.CallExpression): boolean {
  if (!ts.isPropertyAccessExpression(expression) || !levels.has(expression.name.text)) return false
  const { expression: target } = expression
  const holder = ts.isPropertyAccessExpression(target) ? target.name : target
  return ts.isIdentifier(holder) && /^(log|logger)$/i.test(holder.text)
}

/** A statement that does nothing but write lines of the log, perhaps on a condition. */
function isOnlyLog(node: ts.Statement): boolean {
  if (ts.isBlock(node)) return node.statements.length > 0 && node.statements.every(isOnlyLog)
  if (ts.isIfStatement(node))
    return isOnlyLog(node.thenStatement) && (!node.elseStatement || isOnlyLog(node.elseStatement))
  const isCall = ts.isExpressionStatement(node) && ts.isCallExpression(node.expression)
  return isCall && isLogLine(node.expression)
}

function isCallOf({ expression }: ts.CallExpression, name: string): boolean {
  return ts.isIdentifier(expression) && expression.text === name
}

/** A property of a metric's declaration. */
function isMetricFact({ parent }: ts.PropertyAssignment): boolean {
  const made = parent.parent
  if (!ts.isNewExpression(made) || !ts.isIdentifier(made.expression)) return false
  return metricKinds.has(made.expression.text)
}

/** A name for a number or for a product of numbers. */
function isChosenValue(node: ts.Node): boolean {
  if (!ts.isVariableDeclaration(node)) return false
  return node.initializer !== undefined && isChosen(node.initializer)
}
