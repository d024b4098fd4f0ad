/**
 * The pages of `docs` for those who query, with their tables and answers as the code has them now: one step of what
 * `npm run generate` writes.
 */
import { readFileSync } from 'node:fs'
import { repository } from '../support/repository.ts'
import { renderAnswers } from './graphql-answers.ts'
import { graphqlSections } from './graphql-sections.ts'
import { withSection } from './section-text.ts'

/** The pages with queries. */
export const graphqlPagePaths = [
  'docs/graphql.md',
  'docs/proofs.md',
  'docs/reference/aggregates.md',
  'docs/reference/collections.md',
  'docs/reference/filters.md',
] as const

/** Text of each page by its path in the repository. */
export async function graphqlPages(): Promise<ReadonlyMap<string, string>> {
  const sections = graphqlSections()
  const pages = graphqlPagePaths.map(async (path): Promise<[string, string]> => {
    const text = readFileSync(`${repository}/${path}`, 'utf8')
    const withTables = Object.entries(sections[path] ?? {}).reduce(
      (page, [name, section]) => withSection(page, name, section),
      text,
    )
    return [path, await renderAnswers(withTables)]
  })
  return new Map(await Promise.all(pages))
}
