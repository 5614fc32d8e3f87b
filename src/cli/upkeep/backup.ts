import type { Command } from 'commander'
import { type LogLevel, Logger } from '../../base/logger.ts'
import { addStoreFlags, readStoreFlags } from '../flags/store-flags.ts'

/** Adds `backup` and `restore`. */
export function addBackupCommands(program: Command): void {
  addStoreFlags(
    program.command('backup <file>').description('write a consistent backup of all stored objects to a file'),
  )
    .addHelpText(
      'after',
      '\nA server that uses the data directory continues to serve. The file holds all objects as of one revision.',
    )
    .action(async (file: string, _flags: unknown, command: Command) => {
      const { takeBackup } = await import('../../cluster/index.ts')
      const { items, revision } = await takeBackup({ ...readStoreFlags(command), logger: quiet() }, file, Date.now())
      console.log(`wrote ${items} objects as of revision ${revision} to ${file}, and read them back`)
    })
  addStoreFlags(program.command('restore <file>').description('restore a backup into an empty store')).action(
    async (file: string, _flags: unknown, command: Command) => {
      const { restoreInto } = await import('../../cluster/index.ts')
      const { items, revision } = await restoreInto({ ...readStoreFlags(command), logger: quiet() }, file)
      console.log(`restored ${items} objects from ${file}, and read them back; the store is at revision ${revision}`)
    },
  )
}

const quiet = (level: LogLevel = 'warn'): Logger => new Logger((line) => process.stderr.write(line), level)
