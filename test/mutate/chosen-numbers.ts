/**
 * Numbers that somebody chose, such as `64 * 1024` or `4 * mib` where `const mib = 1024 * 1024`: sizes, times and
 * limits. A test could only repeat them; what they decide is where they are compared.
 */
import ts from 'typescript'

/** Whether an expression is made of numbers, and of names for such numbers in the same file, only. */
export function isChosen(node: ts.Node): boolean {
  if (ts.isNumericLiteral(node) || ts.isBigIntLiteral(node)) return true
  if (ts.isParenthesizedExpression(node)) return isChosen(node.expression)
  if (ts.isBinaryExpression(node)) return isChosen(node.left) && isChosen(node.right)
  return ts.isIdentifier(node) && namesOf(node.getSourceFile()).has(node.text)
}

const namesByFile = new WeakMap<ts.SourceFile, ReadonlySet<string>>()

/** The names that a file gives to numbers at its top. */
function namesOf(file: ts.SourceFile): ReadonlySet<string> {
  const known = namesByFile.get(file)
  if (known !== undefined) return known
  const names = new Set<string>()
  namesByFile.set(file, names)
  const lists = file.statements.filter(ts.isVariableStatement)
  for (const { name, initializer } of lists.flatMap((list) => list.declarationList.declarations))
    if (ts.isIdentifier(name) && initializer && isChosen(initializer)) names.add(name.text)
  return names
}
