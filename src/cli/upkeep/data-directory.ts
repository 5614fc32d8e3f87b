import { createInterface } from 'node:readline/promises'
import type { Command } from 'commander'
import { Logger } from '../../base/logger.ts'
import { durationOption, something } from '../flags/flag-values.ts'

interface DirectoryFlags {
  dataDir: string
}

const addDirectoryFlag = (command: Command): Command =>
  command.option('--data-dir <dir>', 'data directory', something, './.coxswain')

/** `coxswain stop`: stops the processes that use a data directory. */
export function addStopCommand(program: Command): void {
  const command = addDirectoryFlag(
    program.command('stop').description('stop the control plane of a data directory; its pods keep running'),
  ).addOption(durationOption('--timeout <duration>', 'time limit', '30s'))
  command.action(async () => {
    const { dataDir, timeout } = command.opts<DirectoryFlags & { timeout: number }>()
    const { dataDirectories } = await import('../../cluster/index.ts')
    const { pids, stillRunning } = await (await dataDirectories()).stopProcessesUsing(dataDir, timeout)
    if (pids.length === 0) return console.log(`no process uses ${dataDir}`)
    if (stillRunning.length > 0) throw new Error(`process ${stillRunning.join(', ')} has not ended within the timeout`)
    console.log(`stopped process ${pids.join(', ')}`)
  })
}

/** `coxswain reset`: removes a data directory and ends its running pods. */
export function addResetCommand(program: Command): void {
  const command = addDirectoryFlag(
    program.command('reset').description('end all pods of a data directory and remove it, with everything in it'),
  ).option('-y, --yes', 'do not ask for confirmation')
  command.action(async () => {
    const { dataDir, yes = false } = command.opts<DirectoryFlags & { yes?: boolean }>()
    if (!yes && !(await isConfirmed(dataDir))) throw new Error('nothing was removed')
    const { dataDirectories } = await import('../../cluster/index.ts')
    const logger = new Logger((line) => process.stderr.write(line), 'error')
    const ended = await (await dataDirectories()).resetDataDirectory(dataDir, logger)
    console.log(
      `removed ${dataDir}${ended === 0 ? '' : `; ended ${ended} ${ended === 1 ? 'pod' : 'pods'} that still ran`}`,
    )
  })
}

/** Prompts for confirmation. Throws without a terminal. */
async function isConfirmed(dataDir: string): Promise<boolean> {
  if (!process.stdin.isTTY) throw new Error('--yes must be specified if standard input is not a terminal')
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  try {
    const answer = await terminal.question(`Remove ${dataDir} with all objects, volumes and keys in it? Type yes: `)
    return answer.trim() === 'yes'
  } finally {
    terminal.close()
  }
}
