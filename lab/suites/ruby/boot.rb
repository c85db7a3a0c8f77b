# frozen_string_literal: true

# Puts the folders of an unpacked Ruby in the place of the built-in ones in the load path. The
# launcher next to this file can only name them in RUBYLIB, which precedes all gems: a newer gem
# would be hidden by the older one in the standard library.
root = File.join(__dir__, "root/")
own, others = $LOAD_PATH.partition { |folder| folder.start_with?(root) }
# None of the machine's own folders belongs to this Ruby.
others.reject! { |folder| folder.start_with?("/usr/lib/") }
$LOAD_PATH.replace(others + own)

# Gems that are also in the standard library: use the newest installed one.
%w[bigdecimal json psych stringio].each do |name|
  gem name
rescue Gem::LoadError
  # Otherwise the one in the standard library.
end
