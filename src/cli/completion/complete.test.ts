import { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { addCompletionCommand } from './command.ts'
import { addFaultCommand } from '../fault/command.ts'
import { addRolloutCommand } from '../rollout/command.ts'
import { addStatusCommand } from '../status/command.ts'
import { addWaitCommand } from '../wait/command.ts'
import { addWhyCommand } from '../why/command.ts'
import { type NameSource, protocolText, suggestionsFor } from './complete.ts'

const program = new Command('coxswain')
for (const add of [addStatusCommand, addWhyCommand, addWaitCommand, addRolloutCommand, addFaultCommand])
  add(program, '0')
addCompletionCommand(program)

/** Tells what it was asked for in the names. */
const cluster: NameSource = {
  workloads: async (kind, flags) => [`${kind}-of-${flags.get('namespace') ?? 'default'}`],
  namespaces: async (flags) => [`of-${flags.get('context') ?? 'the-context'}`],
}

const suggest = async (...words: string[]) =>
  (await suggestionsFor(program, words, cluster)).words.map(({ word }) => word)

describe('suggestionsFor()', () => {
  it.each([
    ['commands', ['w'], ['why', 'wait']],
    ['commands of a command', ['rollout', 're'], ['restart', 'resume']],
    ['flags', ['why', '--name'], ['--namespace']],
    ['values of a flag', ['status', '-o', ''], ['json', 'yaml', 'name']],
    ['kinds', ['why', 'd'], ['deployment', 'daemonset']],
    ['kinds of another command', ['rollout', 'status', 'stat'], ['statefulset']],
    ['names behind a kind', ['why', 'deploy', ''], ['deploy-of-default']],
    ['names behind a slash', ['why', 'sts/'], ['sts/sts-of-default']],
    ['names of a namespace', ['why', '-n', 'prod', 'sts/'], ['sts/sts-of-prod']],
    ['names of a namespace in another form', ['why', '--namespace=prod', 'sts', ''], ['sts-of-prod']],
    ['another kind behind a slash form', ['why', 'sts/db', 'cl'], ['cloneset']],
    ['namespaces', ['why', '--context', 'kind', '-n', ''], ['of-kind']],
    ['outcomes', ['wait', 'job/x', '--for', 'condition=C'], ['condition=Complete']],
    ['shells', ['completion', ''], ['bash', 'zsh', 'fish']],
    ['nothing for a flag that takes anything', ['status', '-l', ''], []],
    ['nothing behind what nobody knows', ['fault', 'clear', ''], []],
  ])('%s', async (_, words, suggested) => expect(await suggest(...words)).toEqual(suggested))

  it.each([
    [['why', '--kubeconfig', ''], true],
    [['why', '-n', ''], false],
    [['fault', 'add', '-f', ''], true],
    [['rollout', ''], false],
  ])('%j may be a file: %s', async (words, allowsFiles) => {
    expect((await suggestionsFor(program, words, cluster)).allowsFiles).toBe(allowsFiles)
  })
})

it('protocolText() is what kubectl expects of a plug-in', () => {
  const words = [{ word: 'deployment', meaning: 'deploy' }, { word: 'job' }]
  expect(protocolText({ words, allowsFiles: false })).toBe('deployment\tdeploy\njob\n:4\n')
  expect(protocolText({ words: [], allowsFiles: true })).toBe(':0\n')
})
