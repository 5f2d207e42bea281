/** Hand edits, told where people look: as Events, and as a condition on the object whose edit was refused. */
import { API_VERSION, type Condition, type KindObject, type ObjectKey } from '#api/meta.ts';
import type { Client } from '#client/client.ts';
import { ignoreNotFound, isCode } from '#lib/errors.ts';
import { isObject } from '#lib/json.ts';
import type { Logger } from '#lib/log.ts';
import { getCondition, setCondition } from './conditions.ts';
import { EventLog } from './events.ts';

export interface FileReport {
  readonly type: 'accepted' | 'rejected' | 'refused' | 'restored';
  readonly key: ObjectKey;
  readonly reason: string;
  readonly message: string;
}

const CONDITION = 'EditRejected';
const TRIES = 5;

export interface FileReportLog {
  record(report: FileReport): void;
  /** Resolves when everything recorded so far is written or given up. */
  flush(): Promise<void>;
}

export function recordFileReports(client: Client, log: Logger): FileReportLog {
  const events = new EventLog({ client, log });
  const recorder = events.recorder('store');
  let last = Promise.resolve();
  const record = (report: FileReport) => {
    const isBad = report.type === 'rejected' || report.type === 'refused';
    log[isBad ? 'warn' : 'info']({ key: report.key, reason: report.reason }, report.message);
    last = last.then(async () => {
      try {
        const object = await ignoreNotFound(client.get<KindObject>(report.key));
        const subject = object ?? placeholder(report.key);
        if (isBad) recorder.warning(subject, report.reason, report.message);
        else recorder.normal(subject, report.reason, report.message);
        if (object) await mark(client, report, isBad);
      } catch (error) {
        log.warn({ err: error, key: report.key }, 'edit report not recorded');
      }
    });
  };
  const flush = async () => {
    await last;
    await events.flush();
  };
  return { record, flush };
}

/** True while the last edit of the file was refused; gone with the next good one. */
async function mark(client: Client, report: FileReport, isBad: boolean, tries = TRIES): Promise<void> {
  const object = await ignoreNotFound(client.get<KindObject>(report.key));
  if (!object || (!isBad && !getCondition(object, CONDITION))) return;
  try {
    await client.updateStatus(isBad ? withRefusal(object, report) : withoutRefusal(object));
  } catch (error) {
    if (!isCode(error, 'Conflict') || tries === 1) throw error;
    await mark(client, report, isBad, tries - 1);
  }
}

function withRefusal(object: KindObject, { reason, message }: FileReport): KindObject {
  const copy: KindObject = { ...object };
  setCondition(copy, { type: CONDITION, status: 'True', reason, message }, new Date());
  return copy;
}

function withoutRefusal(object: KindObject): KindObject {
  const status = isObject(object.status) ? object.status : {};
  const conditions = (Array.isArray(status['conditions']) ? status['conditions'] : []) as Condition[];
  return { ...object, status: { ...status, conditions: conditions.filter(({ type }) => type !== CONDITION) } };
}

/** A file that never became an object still has a name to hang the Event on. */
function placeholder({ kind, namespace, name }: ObjectKey): KindObject {
  return {
    apiVersion: API_VERSION,
    kind,
    metadata: { name, namespace, uid: '', resourceVersion: '', generation: 0, creationTimestamp: '' },
  };
}
