/** Views of a project. */
import { join } from 'node:path'
import { ServiceError } from '../../errors.ts'
import type { Terminal } from '../cli/terminal.ts'
import { openProject, type Project } from '../project/project.ts'
import { type TypesSource, toTypedView } from './types-source.ts'

/** The named Views of the project, without names all of them. */
export function projectSource(terminal: Terminal, names: readonly string[]): TypesSource {
  const namesIn = async (project: Project): Promise<readonly string[]> =>
    names.length > 0 ? [...new Set(names)] : await project.names()
  return {
    pollMs: null,
    async folders() {
      const project = await openProject(terminal)
      const top = join(project.folder, 'views')
      return [top, ...(await namesIn(project)).map((name) => join(top, name))]
    },
    async read() {
      const project = await openProject(terminal)
      const views = []
      for (const name of await namesIn(project)) {
        const { sdl } = await project.load(name)
        if (sdl === null) throw withoutSdl(name)
        views.push(toTypedView(name, sdl))
      }
      return views
    },
  }
}

function withoutSdl(name: string): ServiceError {
  return new ServiceError('TOOLKIT_VIEW_INCOMPLETE', `the View ${name} has no SDL`, {
    remedy: `Set it with viewmesh view add sdl --name ${name}, or name other Views.`,
  })
}
