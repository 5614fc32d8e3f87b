import { type KindName, kindNames, kinds } from './kinds.ts'
import { type Load, type PhaseName, phaseNames, podsOf } from './phases.ts'

/** The options of a run. */
export interface Wishes {
  kinds: readonly KindName[]
  sizes: readonly number[]
  /** Pods of whole clusters, and how many pods each of their owners has. */
  clusters: readonly number[]
  ownersOf: readonly number[]
  /** The most nodes of a cluster. */
  nodes: number
}

/** Simulated nodes take 110 pods each; a rollout needs room for a quarter more. */
const podsPerNode = 100
const surge = 1.25
/** The nodes of a single owner, unless it needs more. */
const usualNodes = 100
/** Clusters grow with their pods; the loss of a twentieth of their nodes is to be that of a node at least. */
const podsPerClusterNode = 50
const fewestNodes = 20

/** The loads of a run, and what was asked for and cannot be. */
export interface Plan {
  loads: Load[]
  notes: string[]
}

/** Plans the small loads first: a run that is out of time has measured all kinds at the smaller sizes. */
export function planLoads({ kinds: names, sizes, clusters, ownersOf, nodes }: Wishes): Plan {
  const notes: string[] = []
  const loads: Load[] = []
  const add = (load: Omit<Load, 'nodes'>, needed: number, usual: number) => {
    if (needed > nodes) notes.push(`${load.title}: not measured, it needs ${needed} nodes and --nodes allows ${nodes}`)
    else loads.push({ ...load, nodes: Math.min(nodes, Math.max(needed, usual)) })
  }
  const roomy = (pods: number) => Math.ceil((pods * surge) / podsPerNode)
  for (const kind of names) {
    const { title: series } = kinds[kind]
    const isDaemon = kind === 'daemonset'
    // A DaemonSet has as many pods as there are nodes, and no more than there may be.
    for (const podsEach of isDaemon ? new Set(sizes.map((size) => Math.min(size, nodes))) : sizes) {
      const load = { title: `${series} of ${podsEach}`, series, isCluster: false, kind, owners: 1, podsEach }
      add(load, isDaemon ? podsEach : roomy(podsEach), isDaemon ? podsEach : usualNodes)
    }
  }
  for (const pods of clusters) {
    for (const podsEach of ownersOf.filter((each) => each <= pods)) {
      const series = `Deployments of ${podsEach}`
      const title = `${pods} pods in ${series}`
      const owners = Math.floor(pods / podsEach)
      const usual = Math.max(fewestNodes, Math.ceil(pods / podsPerClusterNode))
      add({ title, series, isCluster: true, kind: 'deployment', owners, podsEach }, roomy(pods), usual)
    }
  }
  return { loads: loads.sort((a, b) => podsOf(a) - podsOf(b)), notes }
}

/** Parts of a comma-separated flag, each of them one of `allowed`. */
export function readNames<T extends string>(flag: string, text: string, allowed: readonly T[]): T[] {
  return parts(text).map((part) => {
    const found = allowed.find((name) => name === part)
    if (!found) throw new Error(`--${flag}: ${part} is none of ${allowed.join(', ')}`)
    return found
  })
}

/** Whole numbers greater than 0 of a comma-separated flag, in rising order. */
export function readNumbers(flag: string, text: string): number[] {
  return parts(text).map((part) => readNumber(flag, part)).sort((a, b) => a - b)
}

export function readNumber(flag: string, text: string): number {
  const value = Number(text.replaceAll('_', ''))
  if (!Number.isInteger(value) || value < 1) throw new Error(`--${flag}: ${text} is no whole number greater than 0`)
  return value
}

/** Minutes or seconds, which need not be whole. */
export function readAmount(flag: string, text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !(value >= 0)) throw new Error(`--${flag}: ${text} is no amount of time`)
  return value
}

const parts = (text: string) => text.split(',').map((part) => part.trim()).filter((part) => part !== '')

export const readKinds = (text: string): KindName[] => readNames('kinds', text, kindNames)
export const readPhases = (text: string): PhaseName[] => readNames('phases', text, phaseNames)
