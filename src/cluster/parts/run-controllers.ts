import {
  type ManagedController,
  type RivalLease,
  ControllerManager,
  rivalOf,
  selectControllers,
} from '../../controllers/index.ts'
import { isKeyOf } from '../../server/index.ts'
import { readCertificates, readFlagFile } from '../serving/flag-files.ts'
import { type PartOptions, type RunningPart, runPart } from './run-part.ts'

export interface RunControllersOptions extends PartOptions {
  /** `*`, names, and excluded names with a `-` prefix. */
  selection: readonly string[]
  /** Controllers that other managers have disabled: they run here whichever manager holds its lease. */
  takenOver?: readonly string[]
  /** Number of concurrent reconciles by controller. */
  workers: ReadonlyMap<string, number>
  /** Default: the CA of the kubeconfig. */
  rootCaFile: string | undefined
  /** Parent directory, on every node, of volumes that are provisioned for claims. */
  volumesDir: string
  /** Files of the CA that signs certificates: both, or none are signed. */
  signing: { certificateFile: string | undefined; keyFile: string | undefined; longestMs: number }
}

/** Runs controllers against an API server, which may start later. */
export function runControllers(options: RunControllersOptions): Promise<RunningPart> {
  const { gates, rootCaFile, selection, volumesDir, workers } = options
  return runPart('controllers', options, ({ access, about, ...tools }) => {
    const rootCa = rootCaFile ? readCertificates('--root-ca-file', rootCaFile) : (access.authority() ?? '')
    const { timeZone } = new Intl.DateTimeFormat().resolvedOptions()
    const signing = readSigning(options.signing)
    const selected = selectControllers(selection, { rootCa, timeZone, volumesDir, signing })
    about['controllers'] = [...selected.keys()]
    const guarded = withRivals(selected, options)
    return new ControllerManager({ ...tools, controllers: withWorkers(guarded, workers), gates })
  })
}

function readSigning({ certificateFile, keyFile, longestMs }: RunControllersOptions['signing']) {
  if (!certificateFile && !keyFile) return undefined
  if (!certificateFile || !keyFile) {
    throw new Error('--cluster-signing-cert-file and --cluster-signing-key-file: each needs the other')
  }
  const certificate = readCertificates('--cluster-signing-cert-file', certificateFile)
  const authority = { certificate, key: readFlagFile('--cluster-signing-key-file', keyFile) }
  if (!isPair(authority)) throw new Error(`--cluster-signing-key-file: ${keyFile} is not the key of ${certificateFile}`)
  return { authority, longestMs }
}

function isPair(authority: { certificate: string; key: string }): boolean {
  try {
    return isKeyOf(authority)
  } catch {
    // The file does not contain the key of this certificate.
    return false
  }
}

/**
 * Adds to each controller the leases of rival managers that it checks before it runs, except that of this process's own
 * election.
 */
function withRivals(
  selected: ReadonlyMap<string, readonly ManagedController[]>,
  { election, takenOver = [] }: RunControllersOptions,
): Map<string, readonly ManagedController[]> {
  const unknown = takenOver.find((name) => !selected.has(name))
  if (unknown !== undefined)
    throw new Error(`--taken-over: ${JSON.stringify(unknown)} is not among the controllers that are run`)
  const isOwn = (lease: RivalLease) => election?.namespace === lease.namespace && election.name === lease.name
  return new Map(
    [...selected].map(([name, controllers]) => {
      const rival = takenOver.includes(name) ? undefined : rivalOf(name)
      return [name, !rival || isOwn(rival) ? controllers : controllers.map((controller) => ({ ...controller, rival }))]
    }),
  )
}

function withWorkers(
  selected: ReadonlyMap<string, readonly ManagedController[]>,
  workers: ReadonlyMap<string, number>,
): ManagedController[] {
  return [...selected].flatMap(([name, controllers]) => {
    const wanted = workers.get(name)
    return wanted === undefined ? controllers : controllers.map((controller) => ({ ...controller, workers: wanted }))
  })
}
