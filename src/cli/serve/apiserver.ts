import type { Command } from 'commander'
import { serveApi } from '../../cluster/index.ts'
import { addServingCommand } from './serving-command.ts'

/** `coxswain apiserver`: the API server alone. */
export const addApiServerCommand = (program: Command, release: string): void =>
  addServingCommand(program.command('apiserver').description('run the API server'), release, { start: serveApi })
