// The administration writes moments in UTC. Here they are told in the zone of the other pages.

import { store, ZONE_KEY } from "./time.js";

const MOMENT = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d) UTC$/;

function tell(element) {
  const written = element.textContent.trim();
  const parts = element.childElementCount ? null : MOMENT.exec(written);
  if (!parts) return;
  const date = new Date(`${parts[1]}T${parts[2]}Z`);
  const zone = new Intl.DateTimeFormat("en-GB", { timeZoneName: "short" }).formatToParts(date);
  const name = zone.find(({ type }) => type === "timeZoneName")?.value ?? "";
  // Sweden writes moments as we do.
  element.textContent = `${date.toLocaleString("sv-SE")} ${name}`;
  element.title = written;
}

if (store((storage) => storage.getItem(ZONE_KEY)) !== "utc") {
  document.querySelectorAll("#result_list :is(td, th, th a), .readonly").forEach(tell);
}
