/** The fields of the body of `/health`, from the interface that declares it and its comments. */
import ts from 'typescript'
import { invariant } from '../../src/errors.ts'
import { repository } from '../support/repository.ts'
import { table } from './table.ts'

const source = `${repository}/src/service/contract.ts`

/** A row for each field; fields of objects and of lists of objects come below the one that holds them. */
export function healthTable(): string {
  const program = ts.createProgram([source], { strict: true, noLib: false, types: [] })
  const checker = program.getTypeChecker()
  const declaration = program
    .getSourceFile(source)
    ?.statements.filter(ts.isInterfaceDeclaration)
    .find(({ name }) => name.text === 'HealthReport')
  invariant(declaration !== undefined, 'no HealthReport')

  const rowsOf = (type: ts.Type, path: string): string[][] =>
    checker.getPropertiesOfType(type).flatMap((field) => {
      const declared = checker.getTypeOfSymbol(field)
      const value = checker.getNonNullableType(declared)
      const element = checker.isArrayLikeType(value)
        ? checker.getIndexTypeOfType(value, ts.IndexKind.Number)
        : undefined
      const name = `${path}${field.name}`
      const of = element ?? value
      const row = [
        `\`${name}\``,
        valueText(checker, declared, of, element !== undefined),
        commentText(checker, field, of),
      ]
      const isObject = (of.flags & ts.TypeFlags.Object) !== 0
      return [row, ...(isObject ? rowsOf(of, `${name}${element === undefined ? '' : '[]'}.`) : [])]
    })
  return table(['Field', 'Value', 'Meaning'], rowsOf(checker.getTypeAtLocation(declaration), ''))
}

/** What a field holds: of a choice each text, then whether it may be null or left out. */
function valueText(
  checker: ts.TypeChecker,
  declared: ts.Type,
  element: ts.Type,
  isList: boolean,
): string {
  const isObject = (element.flags & ts.TypeFlags.Object) !== 0
  const kind = isObject ? 'object' : kindOf(checker, element)
  const parts = declared.isUnion() ? declared.types : [declared]
  const has = (flag: ts.TypeFlags): boolean => parts.some(({ flags }) => (flags & flag) !== 0)
  return [
    isList ? `list of ${isObject ? 'objects' : `${kind}s`}` : kind,
    ...(has(ts.TypeFlags.Null) ? ['or null'] : []),
    ...(has(ts.TypeFlags.Undefined) ? ['or left out'] : []),
  ].join(' ')
}

function kindOf(checker: ts.TypeChecker, type: ts.Type): string {
  const choices = type.isUnion() ? type.types.filter((each) => each.isStringLiteral()) : []
  return choices.length > 0
    ? choices.map(({ value }) => `\`${value}\``).join(', ')
    : checker.typeToString(type)
}

/** A field's own comment, or that of what it holds. */
function commentText(checker: ts.TypeChecker, field: ts.Symbol, element: ts.Type): string {
  const textOf = (symbol: ts.Symbol | undefined): string =>
    ts.displayPartsToString(symbol?.getDocumentationComment(checker)).replaceAll('\n', ' ')
  const text = textOf(field) || textOf(element.aliasSymbol ?? element.getSymbol())
  invariant(text !== '', `${field.name} has no comment`)
  return text
}
