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
