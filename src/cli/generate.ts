import type { Command } from 'commander'

/** `coxswain generate`: types and manifests for authors of operators. */
export function addGenerateCommand(program: Command): void {
  const generate = program
    .command('generate')
    .description('TypeScript types of custom kinds, and the definitions of our own')
  const types = generate
    .command('types')
    .description('print TypeScript types of the kinds that CustomResourceDefinitions bring')
    .requiredOption(
      '-f, --filename <file>',
      'a file with CustomResourceDefinitions, or - for the standard input; may be repeated',
      collect,
    )
    .option('--from <module>', 'the module that the types import', 'coxswain/client')
    .addHelpText('after', '\nFor example: coxswain generate types -f crd.yaml > boat.ts')
  types.action(async () => {
    const { filename, from } = types.opts<{ filename: string[]; from: string }>()
    const { printTypes } = await import('./generate/run.ts')
    await printTypes(filename, from)
  })
  const crd = generate
    .command('crd')
    .description('print the CustomResourceDefinition of a kind that is built in, for other clusters')
    .argument('<kind>', 'cloneset')
  crd.action(async (kind: string) => {
    const { printDefinition } = await import('./generate/run.ts')
    printDefinition(kind)
  })
}

const collect = (value: string, all: string[] = []): string[] => [...all, value]
