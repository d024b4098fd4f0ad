/** The fields of what routes answer with, from the interfaces that declare it and their comments. */
import ts from 'typescript'
import { invariant } from '../../src/errors.ts'
import { repository } from '../support/repository.ts'
import { table } from './table.ts'

const options: ts.CompilerOptions = {
  strict: true,
  types: [],
  module: ts.ModuleKind.NodeNext,
  allowImportingTsExtensions: true,
}

/** The fields of the body of `/health`. */
export function healthTable(): string {
  return reportTable('src/service/contract.ts', 'HealthReport')
}

/** The fields of a View in the answers of its routes. */
export function viewTable(): string {
  return reportTable('src/host/views/views.ts', 'ViewDetails')
}

/** A row for each field; fields of objects and of lists of objects come below the one that holds them. */
function reportTable(path: string, interfaceName: string): string {
  const source = `${repository}/${path}`
  const program = ts.createProgram([source], options)
  const checker = program.getTypeChecker()
  const declaration = program
    .getSourceFile(source)
    ?.statements.filter(ts.isInterfaceDeclaration)
    .find(({ name }) => name.text === interfaceName)
  invariant(declaration !== undefined, `no ${interfaceName}`)

  const rowsOf = (type: ts.Type, path: string): string[][] =>
    fieldsOf(checker, type).flatMap((field) => {
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

/** Those that an interface extends come before its own. */
function fieldsOf(checker: ts.TypeChecker, type: ts.Type): ts.Symbol[] {
  const bases = type.isClassOrInterface() ? checker.getBaseTypes(type) : []
  const extended = bases.flatMap((base) => fieldsOf(checker, base))
  const names = new Set(extended.map(({ name }) => name))
  return [...extended, ...checker.getPropertiesOfType(type).filter(({ name }) => !names.has(name))]
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
    isList ? `list of ${plural(kind)}` : kind,
    ...(has(ts.TypeFlags.Null) ? ['or null'] : []),
    ...(has(ts.TypeFlags.Undefined) ? ['or left out'] : []),
  ].join(' ')
}

/** A choice of texts has none. */
function plural(kind: string): string {
  return kind.startsWith('`') ? kind : `${kind}s`
}

function kindOf(checker: ts.TypeChecker, type: ts.Type): string {
  const choices = (type.isUnion() ? type.types : [type]).filter((each) => each.isStringLiteral())
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
