import type { SloReport } from '../src/monitor/slo/report.ts'
import type { controllersPage, objectivesPage } from '../src/dashboard/pages/cluster.ts'
import type { conditionFact, eventFact } from '../src/dashboard/pages/facts.ts'
import type { nodePage, podPage } from '../src/dashboard/pages/pod.ts'
import type { revisionsPage, workloadPage } from '../src/dashboard/pages/workload.ts'

/** The responses of the dashboard's server. The types are those of the functions that create them. */
export type WorkloadFact = Awaited<ReturnType<typeof workloadPage>>
export type RevisionFact = Awaited<ReturnType<typeof revisionsPage>>['revisions'][number]
export type PodFact = Awaited<ReturnType<typeof podPage>>
export type NodeFact = Awaited<ReturnType<typeof nodePage>>
export type ControllersFact = Awaited<ReturnType<typeof controllersPage>>
export type ObjectivesFact = Omit<Awaited<ReturnType<typeof objectivesPage>>, 'slos'> & Pick<SloReport, 'slos'>
export type ConditionFact = ReturnType<typeof conditionFact>
export type EventFact = ReturnType<typeof eventFact>
export type CauseFact = WorkloadFact['explanation']['causes'][number]
export type Branch = WorkloadFact['tree']
export type ActionName = WorkloadFact['may']['actions'][number]

export interface MeFact {
  user: string
  release: string
  cluster: string
  /** '' if all namespaces are shown. */
  namespace: string
}
