/**
 * The changes that are tried at a syntax node: the operators of Stryker for conditions, comparisons, logic,
 * arithmetic, assignments, unary operators, booleans, methods and blocks, and those of PIT for calls whose result
 * nobody uses and for numbers. Left out of Stryker's are emptied texts, regular expressions, arrays and objects: they
 * change data, not a decision. A number is changed where it is compared, computed with, passed or returned; one that
 * stands as the value of a name is a choice, which a test could only repeat.
 */
import ts from 'typescript'
import { isChosen } from './chosen-numbers.ts'

/** A text that a node is replaced by. */
type Replacement = string

const kinds = ts.SyntaxKind

/** What each binary operator is replaced by. */
const binarySwaps: ReadonlyMap<ts.SyntaxKind, readonly string[]> = new Map([
  [kinds.LessThanToken, ['<=', '>=']],
  [kinds.LessThanEqualsToken, ['<', '>']],
  [kinds.GreaterThanToken, ['>=', '<=']],
  [kinds.GreaterThanEqualsToken, ['>', '<']],
  [kinds.EqualsEqualsEqualsToken, ['!==']],
  [kinds.ExclamationEqualsEqualsToken, ['===']],
  [kinds.AmpersandAmpersandToken, ['||']],
  [kinds.BarBarToken, ['&&']],
  [kinds.QuestionQuestionToken, ['&&']],
  [kinds.PlusToken, ['-']],
  [kinds.MinusToken, ['+']],
  [kinds.AsteriskToken, ['/']],
  [kinds.SlashToken, ['*']],
  [kinds.PercentToken, ['*']],
  [kinds.AmpersandToken, ['|']],
  [kinds.BarToken, ['&']],
  [kinds.CaretToken, ['&']],
  [kinds.LessThanLessThanToken, ['>>']],
  [kinds.GreaterThanGreaterThanToken, ['<<']],
  [kinds.GreaterThanGreaterThanGreaterThanToken, ['<<']],
  [kinds.PlusEqualsToken, ['-=']],
  [kinds.MinusEqualsToken, ['+=']],
  [kinds.AsteriskEqualsToken, ['/=']],
  [kinds.SlashEqualsToken, ['*=']],
  [kinds.QuestionQuestionEqualsToken, ['&&=']],
])

const comparisons: ReadonlySet<ts.SyntaxKind> = new Set([
  kinds.LessThanToken,
  kinds.LessThanEqualsToken,
  kinds.GreaterThanToken,
  kinds.GreaterThanEqualsToken,
  kinds.EqualsEqualsEqualsToken,
  kinds.ExclamationEqualsEqualsToken,
])

/** Methods that another one takes the place of. */
const methodSwaps: ReadonlyMap<string, string> = new Map([
  ['some', 'every'],
  ['every', 'some'],
  ['min', 'max'],
  ['max', 'min'],
  ['startsWith', 'endsWith'],
  ['endsWith', 'startsWith'],
  ['toLowerCase', 'toUpperCase'],
  ['toUpperCase', 'toLowerCase'],
])

/** Methods without which the value they are called on remains. */
const droppedMethods: ReadonlySet<string> = new Set([
  'filter',
  'slice',
  'trim',
  'sort',
  'toSorted',
  'reverse',
  'toReversed',
])

/** Every text that may take the place of a node; empty where nothing is tried. */
export function replacementsOf(node: ts.Node): readonly Replacement[] {
  if (ts.isBlock(node)) return isBody(node) && node.statements.length > 0 ? ['{}'] : []
  if (ts.isStatement(node)) return ofStatement(node)
  if (!isExpression(node)) return []
  const found = [...ofExpression(node), ...(isCondition(node) ? ofCondition(node) : [])]
  return [...new Set(found)].filter((text) => text !== node.getText())
}

function isExpression(node: ts.Node): node is ts.Expression {
  return ts.isExpression(node)
}

/** A condition holds always, or never, or the other way round; a loop only never, so that it ends. */
function ofCondition(node: ts.Expression): Replacement[] {
  const isLoop = !ts.isIfStatement(node.parent) && !ts.isConditionalExpression(node.parent)
  const opposite = ts.isPrefixUnaryExpression(node) || ts.isBinaryExpression(node)
  if (node.kind === kinds.TrueKeyword) return []
  return ['false', ...(isLoop ? [] : ['true', ...(opposite ? [] : [`!(${node.getText()})`])])]
}

function isCondition(node: ts.Expression): boolean {
  const { parent } = node
  if (ts.isIfStatement(parent) || ts.isWhileStatement(parent) || ts.isDoStatement(parent))
    return parent.expression === node
  return (
    (ts.isForStatement(parent) || ts.isConditionalExpression(parent)) && parent.condition === node
  )
}

function ofExpression(node: ts.Expression): Replacement[] {
  if (ts.isBinaryExpression(node)) return ofBinary(node)
  if (ts.isPrefixUnaryExpression(node)) return ofPrefix(node)
  if (ts.isPostfixUnaryExpression(node)) {
    const operator = node.operator === kinds.PlusPlusToken ? '--' : '++'
    return [`${node.operand.getText()}${operator}`]
  }
  if (ts.isCallExpression(node)) return ofCall(node)
  if (node.kind === kinds.TrueKeyword) return ['false']
  if (node.kind === kinds.FalseKeyword) return ['true']
  return ts.isNumericLiteral(node) || ts.isBigIntLiteral(node) ? ofNumber(node) : []
}

function ofBinary(node: ts.BinaryExpression): Replacement[] {
  const { left, right, operatorToken } = node
  const swapped = (binarySwaps.get(operatorToken.kind) ?? []).map((operator) =>
    wrapped(node, `${operand(left)} ${operator} ${operand(right)}`),
  )
  if (comparisons.has(operatorToken.kind)) return [...swapped, 'true', 'false']
  if (operatorToken.kind === kinds.QuestionQuestionToken)
    return [...swapped, wrapped(node, left.getText())]
  return swapped
}

/** An operand in parentheses where it has operators of its own. */
function operand(node: ts.Expression): string {
  const isSimple = ts.isLeftHandSideExpression(node) || ts.isPrefixUnaryExpression(node)
  return isSimple ? node.getText() : `(${node.getText()})`
}

/** A replacement in parentheses where what is around it could bind more tightly. */
function wrapped({ parent }: ts.Node, text: string): string {
  const isOperand =
    ts.isBinaryExpression(parent) ||
    ts.isPrefixUnaryExpression(parent) ||
    ts.isConditionalExpression(parent)
  return isOperand ? `(${text})` : text
}

function ofPrefix(node: ts.PrefixUnaryExpression): Replacement[] {
  const { operator } = node
  const rest = node.operand.getText()
  if (operator === kinds.PlusPlusToken) return [`--${rest}`]
  if (operator === kinds.MinusMinusToken) return [`++${rest}`]
  if (operator === kinds.ExclamationToken || operator === kinds.MinusToken) return [rest]
  return []
}

function ofCall({ expression, arguments: values }: ts.CallExpression): Replacement[] {
  if (!ts.isPropertyAccessExpression(expression)) return []
  const { expression: target, name } = expression
  if (droppedMethods.has(name.text)) return [target.getText()]
  const other = methodSwaps.get(name.text)
  if (other === undefined) return []
  const given = values.map((value) => value.getText()).join(', ')
  return [`${target.getText()}.${other}(${given})`]
}

function ofNumber(node: ts.NumericLiteral | ts.BigIntLiteral): Replacement[] {
  if (!isUsed(node)) return []
  if (ts.isBigIntLiteral(node)) return [`${BigInt(node.text.slice(0, -1)) + 1n}n`]
  return [`${Number(node.text) + 1}`]
}

/** Whether a number is compared, computed with, passed or returned. */
function isUsed({ parent }: ts.Node): boolean {
  if (ts.isBinaryExpression(parent)) return !isChosen(parent)
  return (
    ts.isCallExpression(parent) ||
    ts.isElementAccessExpression(parent) ||
    ts.isReturnStatement(parent) ||
    ts.isArrowFunction(parent) ||
    ts.isConditionalExpression(parent)
  )
}

function ofStatement(node: ts.Statement): Replacement[] {
  if (ts.isExpressionStatement(node)) return isEffect(node.expression) ? [';'] : []
  const isExit =
    ts.isReturnStatement(node) || ts.isThrowStatement(node) || ts.isContinueStatement(node)
  return isExit && isEarly(node) ? [';'] : []
}

/** A call, awaited or not, or `void` of one. */
function isEffect(node: ts.Expression): boolean {
  if (ts.isAwaitExpression(node) || ts.isVoidExpression(node)) return isEffect(node.expression)
  return ts.isCallExpression(node)
}

/** What a function does, or does when something fails; of a branch the condition is changed instead. */
function isBody({ parent }: ts.Block): boolean {
  return ts.isFunctionLike(parent) || ts.isCatchClause(parent)
}

/** Whether something follows that would run without it. A branch that is nothing else is changed in its condition. */
function isEarly(node: ts.Statement): boolean {
  const { parent } = node
  if (ts.isCaseOrDefaultClause(parent)) return true
  if (!ts.isBlock(parent) || parent.statements.length === 1) return false
  return !ts.isFunctionLike(parent.parent) || parent.statements.at(-1) !== node
}
