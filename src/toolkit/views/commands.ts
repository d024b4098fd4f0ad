/** `viewmesh view`: the commands that build Views. */
import type { Command } from 'commander'
import type { Terminal } from '../cli/terminal.ts'

interface Flags {
  readonly json?: boolean
  readonly name?: string
}

/** Adds them; what they need is loaded when one is run. */
export function addViewCommands(view: Command, terminal: Terminal): void {
  addMakingCommands(view, terminal)
  addAddCommands(view, terminal)
  addRemoveCommands(view, terminal)
  addShowingCommands(view, terminal)
}

function addMakingCommands(view: Command, terminal: Terminal): void {
  withJson(view.command('init'))
    .description('Make this folder a project, or add an empty View.')
    .argument('[name]', 'of the View; without it, this folder becomes a project')
    .action(async (name: string | undefined, flags: Flags) =>
      (await import('./init.ts')).initView(terminal, name, flags),
    )
  withJson(view.command('create'))
    .description('Make a View from its parts, or from an event of a contract’s ABI.')
    .argument('<name>', 'of the View')
    .option('--query <text>', 'what it reads, as in "Log { address topics data }"')
    .option('--sdl <text>', 'the type of its rows')
    .option('--lens <label:path[:args]>', 'a lens, with arguments as JSON; repeatable', append, [])
    .option('--from-abi <file>', 'the ABI of a contract as JSON, - for standard input')
    .option('--event <name>', 'the event of that ABI')
    .option('--address <address>', 'the contract; without it, all that emit the event')
    .action(async (name: string, flags: Flags & { lens: readonly string[] }) =>
      (await import('./create.ts')).createView(terminal, name, flags),
    )
}

function addAddCommands(view: Command, terminal: Terminal): void {
  const add = view
    .command('add')
    .helpCommand(false)
    .description('Add to a View, or replace its query or SDL.')
  withName(add.command('query'))
    .description('Set what the View reads.')
    .argument('[query]', 'a selection without outer braces, as in "Log { address topics data }"')
    .option('--file <file>', 'read it from a file, - for standard input')
    .action(async (query: string | undefined, flags: Flags) =>
      (await import('./add.ts')).addQuery(terminal, query, flags),
    )
  withName(add.command('sdl'))
    .description('Set the type of the rows; it replaces the whole SDL.')
    .argument('[sdl]', 'one type, as in "type Payment { from: String amount: BigInt }"')
    .option('--file <file>', 'read it from a file, - for standard input')
    .action(async (sdl: string | undefined, flags: Flags) =>
      (await import('./add.ts')).addSdl(terminal, sdl, flags),
    )
  withName(add.command('lens'))
    .description('Add a lens behind those that are there.')
    .option('--label <label>', 'its name in this View; always required')
    .option('--path <file>', 'its module of WebAssembly')
    .option('--url <url>', 'its module on the Web')
    .option('--sha256 <hex>', 'what the module at --url has to have')
    .option('--args <json>', 'a JSON object whose values are all strings')
    .action(async (flags: Flags) => (await import('./add.ts')).addLens(terminal, flags))
}

function addRemoveCommands(view: Command, terminal: Terminal): void {
  const remove = view.command('remove').helpCommand(false).description('Take a part out of a View.')
  for (const part of ['query', 'sdl'] as const)
    withName(remove.command(part))
      .description(part === 'query' ? 'Take the query out.' : 'Take the SDL out.')
      .action(async (flags: Flags) =>
        (await import('./remove.ts')).removePart(terminal, part, flags),
      )
  withName(remove.command('lens'))
    .description('Take a lens out.')
    .option('--label <label>', 'which')
    .action(async (flags: Flags) => (await import('./remove.ts')).removeLens(terminal, flags))
}

function addShowingCommands(view: Command, terminal: Terminal): void {
  withJson(view.command('list'))
    .description('List the Views of the project, or of the home folder where there is none.')
    .action(async (flags: Flags) => (await import('./list.ts')).printViewList(terminal, flags))
  withJson(view.command('inspect'))
    .description('Show a View.')
    .argument('<name>', 'of the View')
    .option('--verbose', 'with its versions, and what each changed')
    .action(async (name: string, flags: Flags) =>
      (await import('./inspect.ts')).inspectView(terminal, name, flags),
    )
  withJson(view.command('rollback'))
    .description('Bring back an earlier version; that is a version of its own.')
    .argument('<name>', 'of the View')
    .option('--version <number>', 'which; without it, the one before the present')
    .action(async (name: string, flags: Flags) =>
      (await import('./rollback.ts')).rollbackView(terminal, name, flags),
    )
  withJson(view.command('delete'))
    .description('Delete a View with all its versions.')
    .argument('<name>', 'of the View')
    .action(async (name: string, flags: Flags) =>
      (await import('./delete.ts')).deleteView(terminal, name, flags),
    )
  withJson(view.command('size'))
    .description('Show how large a View is, and how large it may be.')
    .argument('<name>', 'of the View')
    .action(async (name: string, flags: Flags) =>
      (await import('./size.ts')).printViewSize(terminal, name, flags),
    )
}

function withJson(command: Command): Command {
  return command.option('--json', 'print JSON')
}

function withName(command: Command): Command {
  return withJson(command).option('--name <view>', 'the View')
}

function append(value: string, before: readonly string[]): readonly string[] {
  return [...before, value]
}
