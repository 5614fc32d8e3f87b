import { Command } from 'commander'
import { afterEach, expect, it, vi } from 'vitest'
import { parse } from 'yaml'
import { cloneSetDefinition } from '../../api/kinds/workloads/cloneset-definition.ts'
import { addGenerateCommand } from './command.ts'
import { typedKinds } from './run.ts'

afterEach(() => void vi.restoreAllMocks())

/** Runs `coxswain generate …` and returns what it prints. */
async function generate(...args: string[]): Promise<string> {
  let printed = ''
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed += String(text)
    return true
  })
  const program = new Command().exitOverride()
  addGenerateCommand(program)
  await program.parseAsync(['generate', ...args], { from: 'user' })
  return printed
}

it.each(['cloneset', 'CloneSets'])('generate crd %s prints the definition as YAML', async (kind) => {
  const text = await generate('crd', kind)
  expect(parse(text)).toEqual(JSON.parse(JSON.stringify(cloneSetDefinition())))
  expect(text).not.toMatch(/[&*]a\d/)
  expect(typedKinds(text, '-').map(({ group, version, kind: name }) => [group, version, name])).toEqual([['apps.kruise.io', 'v1alpha1', 'CloneSet']])
})

it('generate crd names the kinds that it knows', async () => {
  await expect(generate('crd', 'pod')).rejects.toThrow('no definition of "pod": only of cloneset')
})
