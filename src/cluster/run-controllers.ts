import { type ManagedController, ControllerManager, selectControllers } from '../controllers/index.ts'
import { readCertificates } from './flag-files.ts'
import { type PartOptions, type RunningPart, runPart } from './run-part.ts'

export interface RunControllersOptions extends PartOptions {
  /** `*`, names, and names with a `-` before them. */
  selection: readonly string[]
  /** How many owners are worked on at the same time, by the controller's name. */
  workers: ReadonlyMap<string, number>
  /** Undefined: the authority of the kubeconfig. */
  rootCaFile: string | undefined
  /** Below which volumes that are made for claims have their directories, on every node. */
  volumesDir: string
}

/** Runs controllers against an API server, which need not be there yet. */
export function runControllers(options: RunControllersOptions): Promise<RunningPart> {
  const { gates, rootCaFile, selection, volumesDir, workers } = options
  return runPart('controllers', options, ({ access, about, ...tools }) => {
    const rootCa = rootCaFile ? readCertificates('--root-ca-file', rootCaFile) : (access.authority() ?? '')
    const selected = selectControllers(selection, { rootCa, timeZone: new Intl.DateTimeFormat().resolvedOptions().timeZone, volumesDir })
    about['controllers'] = [...selected.keys()]
    return new ControllerManager({ ...tools, controllers: withWorkers(selected, workers), gates })
  })
}

function withWorkers(selected: ReadonlyMap<string, readonly ManagedController[]>, workers: ReadonlyMap<string, number>): ManagedController[] {
  return [...selected].flatMap(([name, controllers]) => {
    const wanted = workers.get(name)
    return wanted === undefined ? controllers : controllers.map((controller) => ({ ...controller, workers: wanted }))
  })
}
