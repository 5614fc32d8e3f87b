import type { Command } from 'commander'

/** `coxswain generate`: types and manifests for authors of operators. */
export function addGenerateCommand(program: Command): void {
  const generate = program
    .command('generate')
    .description('generate TypeScript types of custom resources, and our own definitions')
  const types = generate
    .command('types')
    .description('print TypeScript types for CustomResourceDefinitions')
    .requiredOption(
      '-f, --filename <file>',
      'file with CustomResourceDefinitions, or - for standard input; repeatable',
      collect,
    )
    .option('--from <module>', 'module that the types import from', 'coxswain/client')
  types.action(async () => {
    const { filename, from } = types.opts<{ filename: string[]; from: string }>()
    const { printTypes } = await import('./run.ts')
    await printTypes(filename, from)
  })
  const crd = generate
    .command('crd')
    .description('print the CustomResourceDefinition of a built-in kind, for other clusters')
    .argument('<kind>', 'cloneset')
  crd.action(async (kind: string) => {
    const { printDefinition } = await import('./run.ts')
    printDefinition(kind)
  })
}

const collect = (value: string, all: string[] = []): string[] => [...all, value]
