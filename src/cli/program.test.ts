import type { Command, Option } from 'commander'
import { describe, expect, it } from 'vitest'
import { parseDuration } from '../base/duration.ts'
import { makeProgram } from './program.ts'

const all = (command: Command): Command[] => [command, ...command.commands.flatMap(all)]
const pathOf = (command: Command | null): string => (command?.parent ? `${pathOf(command.parent)} ${command.name()}`.trim() : '')
const commands = all(makeProgram('coxswain', '1.2.3'))
const options = commands.flatMap((command) => command.options.map((option): [string, Option] => [`${pathOf(command)} ${option.flags}`, option]))

/** A number that is no time: how many of something there are, or a port. */
const isCount = ({ flags }: Option) => /<(number|port)>/.test(flags)

/** The help as a user sees it, with the text after the options. */
function helpOf(command: Command): string {
  let text = ''
  command.configureOutput({ writeOut: (part) => (text += part) }).outputHelp()
  return text
}

/** The words of a command line up to a pipe or a redirection, with quoted words as one. */
const wordsOf = (line: string): string[] =>
  (line.split(/ [|>] /)[0]!.match(/'[^']*'|"[^"]*"|\S+/g) ?? []).map((word) => word.replaceAll(/^['"]|['"]$/g, ''))

/** Parses an example with the real grammar; the actions do not run. */
function parseExample(line: string): void {
  const program = makeProgram('coxswain', '1.2.3')
  program.configureOutput({ writeErr: () => {} })
  for (const command of all(program)) command.action(() => {}).exitOverride()
  program.parse(wordsOf(line), { from: 'user' })
}

const leaves = commands.filter((command) => command.commands.length === 0 || pathOf(command) === 'monitor')

describe('the examples of all commands', () => {
  it.each(leaves.map((command): [string, Command] => [pathOf(command), command]))('%s: each is a valid call of it', (path, command) => {
    const lines = [...helpOf(command).matchAll(/^ {2}# .+\n {2}coxswain (.+)$/gm)].map(([, line]) => line!)
    expect(lines).not.toEqual([])
    for (const line of lines) {
      expect(`${line} `).toMatch(new RegExp(`^${path} `))
      expect(() => parseExample(line)).not.toThrow()
    }
  })

  it('refuses an example with an unknown flag', () => {
    expect(() => parseExample('status --colour')).toThrow(/unknown option/)
  })
})

describe('the help of all commands', () => {
  it('has flags for durations, with defaults', () => {
    const names = options.filter(([, { flags, defaultValue }]) => flags.includes('<duration>') && defaultValue !== undefined).map(([name]) => name)
    expect(names).toEqual(expect.arrayContaining(['wait --timeout <duration>', 'monitor --creation-timeout <duration>', 'up --creation-timeout <duration>']))
  })

  it.each(options)('%s: a default is shown as people type it', (_, option) => {
    const { flags, defaultValue, defaultValueDescription } = option
    if (flags.includes('<duration>') && defaultValue !== undefined) {
      expect(parseDuration(defaultValueDescription)).toBe(defaultValue)
      return
    }
    // Milliseconds of a flag that does not say that it is a duration.
    if (typeof defaultValue === 'number' && !isCount(option)) expect(defaultValue).toBeLessThan(1000)
  })

  it.each(commands.map((command): [string, Command] => [pathOf(command), command]))('%s shows no milliseconds', (_, command) => {
    const numbers = command.options.filter(isCount).map(({ defaultValue }) => String(defaultValue))
    const shown = [...command.helpInformation().matchAll(/\(default:\s+(\d{3,})\)/g)].map(([, number]) => number!)
    expect(shown.filter((number) => !numbers.includes(number))).toEqual([])
  })
})
