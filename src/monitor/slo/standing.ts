import { type BurnAlert, type Severity, burnAlerts, burnWindows, errorBudget, exact } from './burn-alerts.ts'
import type { Slo } from './slo-file.ts'
import { printWindow } from './window.ts'

/** How an objective stands, or one group of it. */
export interface Standing {
  /** In the window of the objective. */
  events: number
  bad: number
  /** The share of good events; null where there were none. */
  compliance: number | null
  /** 1: nothing is spent. Less than 0: the objective is missed. */
  errorBudgetRemaining: number
  /** By windows: 1 spends the budget in exactly the window of the objective. 0 where there were no events. */
  burnRates: Record<string, number>
  /** What of it somebody has to hear now. */
  alert: Severity | null
}

/** How to judge the counts of an objective, or of a group of it, which are asked for by windows. */
export function standingFor(slo: Slo): (countsIn: (windowMs: number) => { good: number; bad: number }) => Standing {
  const budget = errorBudget(slo)
  const windows = burnWindows(slo).map((ms) => [ms, printWindow(ms)] as const)
  // Pages come first in the list.
  const alerts = burnAlerts(slo)
  return (countsIn) => {
    const ratios = new Map<number, number>()
    const burnRates: Record<string, number> = {}
    for (const [windowMs, name] of windows) {
      const { good, bad } = countsIn(windowMs)
      const ratio = bad === 0 ? 0 : bad / (good + bad)
      ratios.set(windowMs, ratio)
      burnRates[name] = exact(ratio / budget)
    }
    const { good, bad } = countsIn(slo.windowMs)
    const isBurning = ({ longMs, shortMs, factor }: BurnAlert) => Math.min(ratios.get(longMs)!, ratios.get(shortMs)!) > factor * budget
    return {
      events: good + bad,
      bad,
      compliance: good + bad === 0 ? null : exact(good / (good + bad)),
      errorBudgetRemaining: exact(1 - ratios.get(slo.windowMs)! / budget),
      burnRates,
      alert: alerts.find(isBurning)?.severity ?? null,
    }
  }
}
