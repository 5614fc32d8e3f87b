import { type Command, InvalidArgumentError, Option } from 'commander'
import { type Int64, parseInt64 } from '../../api/numbers/int64.ts'
import { bool, durationOption, timeoutMs } from '../flags/flag-values.ts'
import { type Session, addConnectionFlags, runSession } from '../session.ts'
import type { DocumentForm } from '../terminal/document.ts'

interface Flags {
  timeout?: number
  watch?: boolean
  revision?: Int64
  toRevision?: Int64
  output?: DocumentForm
  dryRun?: boolean
}

const revisionNumber = (text: string): Int64 => {
  const number = parseInt64(text)
  if (number === undefined || number < 0) throw new InvalidArgumentError('must be the number of a revision')
  return number
}

const endings =
  '\nExit codes: 0 complete, or held by its partition; 3 failed or past its deadline; 124 after the time limit; ' +
  '1 another error.'

/** `coxswain rollout`: rollouts of every kind of workload, CloneSets included. */
export function addRolloutCommand(program: Command, release: string): void {
  const rollout = program
    .command('rollout')
    .description('follow, undo, restart, pause and resume rollouts of every kind of workload')
  const sub = (name: string, description: string) =>
    addConnectionFlags(rollout.command(`${name} <names...>`).description(description))
  const run = (command: Command, work: (session: Session, args: string[], flags: Flags) => Promise<number>) =>
    command.action((names: string[]) =>
      runSession(command, release, (session) => work(session, names, command.opts<Flags>())),
    )

  const status = sub('status', 'wait until a rollout is complete, and report what it waits for')
    .addOption(durationOption('--timeout <duration>', 'time limit; 0 waits without limit', '0s', timeoutMs))
    .addOption(
      new Option('-w, --watch [bool]', 'wait for the end; false reports the current state (exit code 2: not complete)')
        .argParser(bool)
        .preset('true')
        .default(true),
    )
    .addHelpText('after', endings)
  const watch = sub('watch', 'show live progress bars until a rollout is complete or has failed')
    .addOption(durationOption('--timeout <duration>', 'time limit; 0 waits without limit', '0s', timeoutMs))
    .addHelpText('after', endings)
  for (const [command, live] of [
    [status, false],
    [watch, true],
  ] as const) {
    run(command, async (session, args, { timeout, watch: waits = true }) => {
      const { runRolloutStatus } = await import('./status.ts')
      return runRolloutStatus(session, { args, timeoutMs: timeout || undefined, watch: waits, live })
    })
  }

  run(
    sub('history', 'list the revisions of a workload, or show the template of one')
      .option('--revision <number>', 'show the template of this revision', revisionNumber)
      .addOption(new Option('-o, --output <form>', 'output format (default: text)').choices(['json', 'yaml'])),
    async (session, args, { revision, output }) => {
      const { runHistory } = await import('./history.ts')
      return runHistory(session, { args, revision, form: output })
    },
  )

  const editing = (name: string, description: string) =>
    sub(name, description).option('--dry-run', 'let the server validate the change without storing it')
  run(
    editing('undo', 'return to an earlier template').option(
      '--to-revision <number>',
      'revision to return to; 0 is the previous one',
      revisionNumber,
      0,
    ),
    async (session, args, { toRevision = 0, dryRun = false }) =>
      (await import('./edit.ts')).runUndo(session, { args, dryRun }, toRevision),
  )
  run(editing('restart', 'replace all pods by a rolling update'), async (session, args, { dryRun = false }) =>
    (await import('./edit.ts')).runRestart(session, { args, dryRun }),
  )
  run(editing('pause', 'pause the rollout of a Deployment or CloneSet'), async (session, args, { dryRun = false }) =>
    (await import('./edit.ts')).runPause(session, { args, dryRun }, true),
  )
  run(editing('resume', 'resume a paused rollout'), async (session, args, { dryRun = false }) =>
    (await import('./edit.ts')).runPause(session, { args, dryRun }, false),
  )
}
