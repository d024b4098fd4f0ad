/** The commands of the toolkit with what they are for; `viewmesh --help` lists them without loading them. */
export const toolkitCommands = {
  view: 'Build Views: their query, SDL and lenses, with versions; test and deploy them.',
} as const
