/** Tables of what `viewmesh/app` takes and tells, from the interfaces that declare it and their comments. */
import { readFileSync } from 'node:fs'
import ts from 'typescript'
import { invariant } from '../../../src/errors.ts'
import { repository } from '../../support/repository.ts'
import { table } from '../table.ts'

const path = `${repository}/src/app/contract.ts`

/** A row for each member of an interface; a question mark behind the name where it may be left out. */
export function contractTable(name: string): string {
  const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.ESNext, true)
  const found = source.statements
    .filter(ts.isInterfaceDeclaration)
    .find((declaration) => declaration.name.text === name)
  invariant(found !== undefined, `no ${name}`)
  const rows = found.members.filter(ts.isPropertySignature).map((member) => {
    const mark = member.questionToken === undefined ? '' : '?'
    return [`\`${member.name.getText()}${mark}\``, typeText(member), commentText(member)]
  })
  return table(['Name', 'Type', 'Meaning'], rows)
}

function typeText(member: ts.PropertySignature): string {
  const text = (member.type?.getText() ?? '').replaceAll('readonly ', '').replaceAll('|', '\\|')
  return `\`${text}\``
}

function commentText(member: ts.PropertySignature): string {
  const comments = ts.getJSDocCommentsAndTags(member)
  const text = comments.map(({ comment }) => ts.getTextOfJSDocComment(comment) ?? '').join(' ')
  invariant(text !== '', `${member.name.getText()} has no comment`)
  return text.replaceAll('\n', ' ')
}
