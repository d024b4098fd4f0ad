/** `view delete`: ends a View of a project. */
import { paths } from '../../service/contract.ts'
import { printResult } from '../cli/print.ts'
import type { Terminal } from '../cli/terminal.ts'
import type { Deployment } from '../project/deployments.ts'
import { openProject } from '../project/project.ts'

/** Removes a View with its versions; where it was deployed it stays. */
export async function deleteView(
  terminal: Terminal,
  name: string,
  { json }: { readonly json?: boolean },
): Promise<void> {
  const project = await openProject(terminal)
  await project.delete(name)
  const all = await project.deployments()
  const own = all.filter(({ view, state }) => view === name && state !== 'refused')
  const places = [...new Map(own.map((each) => [`${each.endpoint} ${each.id}`, each])).values()]
  const deployments = places.map(({ target, endpoint, id }) => ({ target, endpoint, id }))
  printResult(
    terminal,
    { deleted: name, deployments },
    { json, text: [`deleted view ${name}`, ...places.map(stayText)].join('\n') },
  )
}

function stayText({ revision, target, endpoint, id }: Deployment): string {
  const place = `version ${revision} stays at ${endpoint} (${target})`
  return target === 'local'
    ? `${place}: DELETE ${endpoint}${paths.views}/${id} with the admin token of the Host removes it`
    : `${place}: what is registered cannot be taken back`
}
