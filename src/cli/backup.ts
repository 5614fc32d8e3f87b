import type { Command } from 'commander'
import { type LogLevel, Logger } from '../base/logger.ts'
import { addStoreFlags, readStoreFlags } from './store-flags.ts'

/** Adds `backup` and `restore`. */
export function addBackupCommands(program: Command): void {
  addStoreFlags(program.command('backup <file>').description('write everything that is stored to a file'))
    .addHelpText('after', '\nWith --store lmdb the process that owns the data directory must be stopped; with etcd it may run.')
    .action(async (file: string, _flags: unknown, command: Command) => {
      const { withStore, writeBackup } = await import('../cluster/index.ts')
      const options = readStoreFlags(command)
      const { items, revision } = await withStore({ ...options, logger: quiet() }, (store) => writeBackup(store, options.dataDir, file, Date.now()))
      console.log(`wrote ${items} objects as of revision ${revision} to ${file}, and read them back`)
    })
  addStoreFlags(program.command('restore <file>').description('fill a new store with what a backup holds'))
    .action(async (file: string, _flags: unknown, command: Command) => {
      const { restoreBackup, withStore } = await import('../cluster/index.ts')
      const options = readStoreFlags(command)
      const { items, revision } = await withStore({ ...options, logger: quiet() }, (store) => restoreBackup(store, options.dataDir, file))
      console.log(`restored ${items} objects from ${file}, and read them back; the store is at revision ${revision}`)
    })
}

const quiet = (level: LogLevel = 'warn'): Logger => new Logger((line) => process.stderr.write(line), level)
