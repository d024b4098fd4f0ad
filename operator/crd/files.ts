/** The files with the definitions of the resources: in `crds/`, and as a copy in the operator's chart. */
import { stringify } from 'yaml'
import { resourceKinds } from '../api/resource-kinds.ts'
import { readDeclarations } from './declarations.ts'
import { definitionOf } from './definition.ts'

const folders = ['crds', 'charts/operator/files/crds']
const note = '# Made from operator/api.ts by `npm run generate`: change it there.\n'

/** Text of each file by its path in the repository, made from the types of the API. */
export function crdFiles(): ReadonlyMap<string, string> {
  const declarations = readDeclarations()
  const files = resourceKinds.flatMap((resource) => {
    const text = note + stringify(definitionOf(resource, declarations), { lineWidth: 100 })
    return folders.map((folder): [string, string] => [`${folder}/${resource.singular}.yaml`, text])
  })
  return new Map(files)
}
