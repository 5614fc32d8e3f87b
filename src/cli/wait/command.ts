import type { Command } from 'commander'
import { durationOption, timeoutMs } from '../flags/flag-values.ts'
import { addConnectionFlags, runSession } from '../session.ts'

interface Flags {
  for: string
  or: string[]
  timeout: number
}

const gathered = (value: string, before: string[]): string[] => [...before, value]

/** `coxswain wait`: the first of several outcomes, with an exit code for each. */
export function addWaitCommand(program: Command, release: string): void {
  const command = addConnectionFlags(
    program.command('wait <names...>').description('wait for the first of several outcomes of an object'),
  )
    .requiredOption(
      '--for <outcome>',
      'outcome to wait for: condition=NAME[=STATUS], jsonpath=PATH[=VALUE], create or delete',
    )
    .option('--or <outcome>', 'another outcome that ends the wait; repeatable', gathered, [])
    .addOption(durationOption('--timeout <duration>', 'time limit; 0 checks once', '30s', timeoutMs))
    .addHelpText(
      'after',
      '\nExit codes: 0 for --for; 10, 11, … for the first, second, … --or; 124 after the time limit; 1 for an error.',
    )
  command.action((names: string[]) =>
    runSession(command, release, async (session) => {
      const flags = command.opts<Flags>()
      const { runWait } = await import('./run.ts')
      return runWait(session, { args: names, for: flags.for, or: flags.or, timeoutMs: flags.timeout })
    }),
  )
}
