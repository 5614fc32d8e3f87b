import type { Slo } from './slo-file.ts'

const hourMs = 3_600_000

export type Severity = 'page' | 'ticket'

/** When somebody has to hear of it: the budget burns `factor` times too fast over the long window, and still does over the short one. */
export interface BurnAlert {
  severity: Severity
  longMs: number
  shortMs: number
  /** A burn rate of 1 spends the whole budget in exactly the window of the objective. */
  factor: number
}

/** After how much of the budget: the figures of the SRE workbook, chapter 5. */
const shares: (Omit<BurnAlert, 'factor'> & { budgetShare: number })[] = [
  { severity: 'page', longMs: hourMs, shortMs: hourMs / 12, budgetShare: 0.02 },
  { severity: 'page', longMs: 6 * hourMs, shortMs: hourMs / 2, budgetShare: 0.05 },
  { severity: 'ticket', longMs: 72 * hourMs, shortMs: 6 * hourMs, budgetShare: 0.1 },
]

/** Without the noise that floating point adds: 0.001, not 0.0010000000000000009. */
export const exact = (value: number): number => (Number.isInteger(value) ? value : Number(value.toPrecision(12)))

/** The share of events that may be bad. */
export const errorBudget = ({ objectivePercent }: Pick<Slo, 'objectivePercent'>): number => exact((100 - objectivePercent) / 100)

/** How fast the budget of an objective may burn before somebody hears of it. Alerts that could never fire are left out: no more than everything can fail. */
export function burnAlerts(slo: Pick<Slo, 'objectivePercent' | 'windowMs'>): BurnAlert[] {
  return shares
    .filter(({ longMs }) => longMs <= slo.windowMs)
    .map(({ budgetShare, ...alert }) => ({ ...alert, factor: exact(Math.max(1, (budgetShare * slo.windowMs) / alert.longMs)) }))
    .filter(({ factor }) => factor * errorBudget(slo) < 1)
}

/** Every window over which the burn rate of an objective is told, its own the last. */
export function burnWindows({ windowMs }: Pick<Slo, 'windowMs'>): number[] {
  const windows = new Set(shares.flatMap(({ longMs, shortMs }) => [shortMs, longMs]).filter((ms) => ms < windowMs))
  return [...windows, windowMs].toSorted((a, b) => a - b)
}
